"""What the pages of the documentation show is what is printed, and what they list is complete."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from pathlib import Path
from xml.etree import ElementTree

import pytest
from consoles import PAGES, ROOT, Console, commands, missing, sessions

from pytest_soulmem import hooks
from pytest_soulmem.forgetting.terms import TRIGGER
from pytest_soulmem.kinds import KINDS, kind_of_place
from pytest_soulmem.reporting.results import read_results
from pytest_soulmem.retrieval import Query, Retrieval
from pytest_soulmem.retrieval.actions import ACTIONS_PER_SUB_QUERY
from pytest_soulmem.retrieval.ranking import DECIMALS
from pytest_soulmem.retrieval.reference import ASSOCIATION_TOP_K, PRIORITY_WEIGHT

README = PAGES[0]
SESSIONS = [
    pytest.param(page, session, id=f"{page.name}-{session.splitlines()[0][2:60]}")
    for page in PAGES
    for session in sessions(page)
]


@pytest.mark.parametrize(("page", "session"), SESSIONS)
def test_a_session_shows_what_is_printed(tmp_path, page, session):
    console = Console(tmp_path, {})
    for command, shown in commands(session):
        printed = console.run(command)
        assert missing(shown, printed) == [], "\n".join([f"$ {command}", *printed])


def test_what_is_shown_must_be_printed_in_one_piece_and_in_order():
    printed = ["a", "b", "c"]
    assert missing(["a", "b", "…", "c"], printed) == []
    assert missing(["…", "c", "…"], printed) == []
    assert missing(["a", "c"], printed) == ["a", "c"]
    assert missing(["c", "…", "a"], printed) == ["a"]


def test_a_part_of_a_file_is_in_the_file():
    pattern = r"<!-- part of: (\S+) -->\n```json\n(.*?)```"
    parts = re.findall(pattern, README.read_text("utf-8"), re.DOTALL)
    assert parts
    assert all(part in (ROOT / name).read_text("utf-8") for name, part in parts)


def test_examples_are_run_only_where_they_are_named():
    examples = sorted((ROOT / "examples").iterdir())
    assert examples
    assert [path for path in examples if kind_of_place(path)] == []


LINKS = [
    (page, path, heading)
    for page in PAGES
    for path, heading in re.findall(r"\]\((?!http)([^)#]*)(?:#([^)]+))?\)", page.read_text("utf-8"))
]


@pytest.mark.parametrize(
    ("page", "path", "heading"), LINKS, ids=[f"{page.name}-{path}#{at}" for page, path, at in LINKS]
)
def test_what_is_linked_is_there(page: Path, path: str, heading: str):
    target = page.parent / path if path else page
    assert target.is_file()
    if heading:
        assert heading in headings(target)


def headings(page: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    found = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in found}


def test_every_page_is_linked_from_the_readme():
    text = README.read_text("utf-8")
    assert [page.name for page in PAGES[1:] if f"docs/{page.name}" not in text] == []


@pytest.fixture(scope="module")
def own_run(tmp_path_factory):
    """The folder of a run over every fixture of this project."""
    folder = tmp_path_factory.mktemp("run")
    console = Console(folder, {})
    console.run("pytest fixtures --soulmem-laws=off --junitxml=r.xml --soulmem-json=r.json")
    return folder


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text("utf-8")


def test_every_figure_and_channel_is_explained(own_run):
    cases = read_results(own_run / "r.json").cases
    names = {figure.partition("@")[0] for case in cases for figure in case.figures}
    for case in cases:
        for ranking in case.result.get("rankings") or ():
            names.update(name for hit in ranking["retrieved"] for name in hit["channels"])
    assert {"rr", "abstract", "pagerank", "narrative"} <= names
    told = set(re.findall(r"`([\w ]+)(?:@k)?`", page("report.md")))
    assert sorted(names - told) == []


def test_the_numbers_of_the_reference_are_the_ones_in_use():
    text = " ".join(page("report.md").split())
    assert f"the {ASSOCIATION_TOP_K} best memories are associated" in text
    assert f"the {ACTIONS_PER_SUB_QUERY} best actions" in text
    assert f"key = score + {PRIORITY_WEIGHT} · priority / the largest priority" in text
    assert f"rounded to {DECIMALS} decimals" in text
    assert f"the degree at which forgetting sets in, {TRIGGER}" in text


def test_every_property_of_junit_is_listed(own_run):
    tree = ElementTree.parse(own_run / "r.xml")  # noqa: S314 - of our own making
    names = {
        own.get("name", "").removeprefix("soulmem.").partition("@")[0]
        for own in tree.iter("property")
    }
    assert {"mode", "action_hit", "missing_degree", "terminal_state", "media_bound"} <= names
    listed = page("results.md").split("## JUnit properties")[1].split("\n## ")[0]
    told = {name.partition("@")[0] for name in re.findall(r"`([\w@]+)`", listed)}
    weights = {name for name in names if name.startswith(("sem_", "sit_", "string_blend"))}
    assert sorted(names - told - weights) == []


@pytest.mark.parametrize("where", ["README.md", "docs/hooks.md"])
def test_every_hook_is_listed_with_its_arguments(where):
    text = (ROOT / where).read_text("utf-8")
    for name, hook in inspect.getmembers(hooks, inspect.isfunction):
        if name.startswith("pytest_soulmem_"):
            arguments = ", ".join(inspect.signature(hook).parameters)
            assert f"| `{name}({arguments})` |" in text


def test_all_of_a_query_and_of_an_answer_is_told():
    text = page("hooks.md")
    for kind in (Query, Retrieval):
        for own in fields(kind):
            assert f"`{own.name}`" in text


def test_every_place_of_fixtures_is_told():
    told = "".join(page(name) for name in ("fixtures.md", "events.md", "archive.md"))
    for kind in KINDS:
        for pattern in kind.places:
            folder, _, name = pattern.partition("/")
            assert f"`{name if folder == '*' else folder + '/<name>.json'}`" in told


def example(name: str, where: str = "hooks.md") -> str:
    pattern = rf"<!-- example: {name} -->\n```python\n(.*?)```"
    (found,) = re.findall(pattern, page(where), re.DOTALL)
    return found


def test_the_example_of_a_retriever_can_be_judged_and_explains_itself(tmp_path):
    console = Console(tmp_path, {"conftest.py": example("retriever")})
    printed = console.run("pytest fixtures/queries --soulmem-check=none")
    assert "fixtures/queries/harbour_teahouse.json  (CharacterOverlap; mode full; check none)" in (
        printed
    )
    assert re.search(r"\d+ passed in", printed[-1])
    assert "failed" not in printed[-1]
    failing = console.run("pytest fixtures/queries --soulmem-check=exact")
    assert any(line.split()[-3:] == ["key", "overlap", "memory"] for line in failing)


def test_the_example_of_two_versions_compares_them(tmp_path):
    console = Console(tmp_path, {"conftest.py": example("versions")})
    console.run("pytest fixtures/queries --soulmem-check=hit --memory=old --soulmem-save=old")
    printed = console.run(
        "pytest fixtures/queries --soulmem-check=hit --memory=new --soulmem-compare=old"
    )
    assert "comparison with old" in "".join(printed)
    assert not any("not compared" in line for line in printed)
    (passed,) = [line for line in printed if line.split()[:1] == ["passed"]]
    assert "+0.0000  +0.0000" not in passed


def test_a_system_of_ones_own_is_compared_with_the_reference_as_told(tmp_path):
    console = Console(tmp_path, {"conftest.py": example("retriever")})
    told = page("results.md").split("### Two systems")[1].split("\n## ")[0]
    (block,) = re.findall(r"```sh\n(.*?)```", told, re.DOTALL)
    reference, mine = block.splitlines()
    assert re.search(r"\d+ passed in", console.run(reference)[-1])
    refused = console.run(mine.removesuffix(" --soulmem-compare-systems"))
    first, second = told.split("```\n")[1].splitlines()
    start, end = first.split("…")
    assert any(line.startswith(start) and line.endswith(end) for line in refused)
    assert second in refused
    compared = console.run(mine)
    title, header = told.split("```\n")[-2].splitlines()
    start, end = title.split("…")
    (at,) = [at for at, line in enumerate(compared) if line.startswith(start)]
    assert compared[at].endswith(end)
    assert compared[at + 1].split() == header.split()
    (rr,) = [line.split() for line in compared[at:] if line.split()[:1] == ["rr"]]
    assert rr[1] != rr[2]
    assert rr[-1] == "44"


def test_the_job_for_ci_passes_as_written(tmp_path):
    def block(mark):
        (found,) = re.findall(rf"<!-- {mark} -->\n```\w+\n(.*?)```", readme, re.DOTALL)
        return found

    readme = README.read_text("utf-8")
    (prepare, git_add), job = block("before CI").splitlines(), block("in CI")
    runs = re.findall(r"- run:(?: >)?\s(.*?)(?=- run|\Z)", job, re.DOTALL)
    install, check, run = (" ".join(command.split()) for command in runs)
    assert install.startswith("pip install ")
    console = Console(tmp_path, {})
    # Laws are sought anew in every run, which takes time and needs no store.
    console.run(f"{prepare} --soulmem-laws=off")
    assert [name for name in git_add.split()[2:] if not (tmp_path / name).is_file()] == []
    console.run(check)
    assert console.run("echo $?") == ["0"]
    summary = run.replace("$GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    printed = console.run(f"{summary} --soulmem-laws=off")
    assert console.run("echo $?") == ["0"]
    assert any(" comparison with main " in line for line in printed)
    assert (tmp_path / "summary.md").read_text("utf-8").startswith("## Memory: ")
    assert (tmp_path / "soulmem.xml").is_file()
