"""What the README shows works as written."""

import re
from pathlib import Path

import pytest

from pytest_soulmem.options import OPTIONS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")


EMBEDDER = "my_embedder.py, used by: pytest --soulmem-embedder=my_embedder:Embedder"


def python_block(first_words):
    """The Python example that begins with a comment."""
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (found,) = [block for block in blocks if block.startswith(f"# {first_words}\n")]
    return found


@pytest.fixture
def fixtures(pytester, monkeypatch):
    """The fixture files that the README writes out."""
    monkeypatch.delenv("CI", raising=False)
    for name, text in re.findall(r"<!-- file: (\S+) -->\n```json\n(.*?)```", README, re.DOTALL):
        path = pytester.path / "fixtures" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return pytester


def run(pytester, *arguments):
    return pytester.runpytest_subprocess("fixtures/queries", "-v", *arguments)


def test_the_example_of_forgetting_runs(fixtures):
    fixtures.runpytest_subprocess("fixtures/forget").assert_outcomes(passed=12)


def test_the_example_forgetter_breaks_the_laws_that_it_may(fixtures):
    comment = "conftest.py: a power law, which forgets too, but knows no recalls"
    fixtures.makeconftest(python_block(comment))
    result = fixtures.runpytest_subprocess("fixtures/forget", "-rfs")
    output = result.stdout.str()
    assert "law composition is broken" in output
    assert "skipped=3" in repr(result.parseoutcomes()).replace("': ", "=")


def test_the_example_fixture_runs_on_the_bundled_model(fixtures):
    result = run(fixtures, "--soulmem-embedder=e5")
    result.assert_outcomes(passed=2)
    output = result.stdout.str()
    assert "fixtures/queries/pets.json::家里的猫[tag:0.3-variant:0.7] PASSED" in output
    assert "fixtures/queries/pets.json::家里的猫[tag:0.5-variant:0.5] PASSED" in output


def test_the_example_fixture_is_selected_by_name(fixtures):
    run(fixtures, "-k", "家里的猫", "--collect-only").assert_outcomes()
    fixtures.makeconftest(python_block("conftest.py"))
    run(fixtures, "-m", "soulmem_retrieval").assert_outcomes(passed=2)


def test_the_example_retriever_judges_the_example_fixture(fixtures):
    fixtures.makeconftest(python_block("conftest.py"))
    result = run(fixtures)
    result.assert_outcomes(passed=2)
    assert "SharedCharacters; mode full; check order" in result.stdout.str()


def test_the_example_embedder_serves(fixtures):
    fixtures.makepyfile(my_embedder=python_block(EMBEDDER))
    result = run(fixtures, "--soulmem-embedder=my_embedder:Embedder", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=2)
    assert "mine; mode full; check order" in result.stdout.str()


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_every_option_is_in_the_table(option):
    assert re.search(rf"^\| `--soulmem-{option.name}\b", README, re.MULTILINE)


def test_the_commands_of_the_first_page_are_those_that_ci_runs():
    block = README.split("<!-- try it -->")[1].split("<!-- end -->")[0]
    commands = [line for line in block.splitlines() if line and not line.startswith("```")]
    assert commands == [
        "python3 -m venv .venv",
        ".venv/bin/python -m pip install -e '.[e5,dev]'",
        ".venv/bin/pytest fixtures/",
        ".venv/bin/pytest",
    ]
    assert "<!-- try it -->" in (ROOT / ".ci/run").read_text("utf-8")
