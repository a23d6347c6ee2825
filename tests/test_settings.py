"""Options, their ini keys, and which of them wins."""

from __future__ import annotations

import pytest
from projects import case, queries

from pytest_soulmem.options import OPTIONS
from pytest_soulmem.settings import read_settings

MODES = ("embedding", "association", "full")


def judged(project, *args: str) -> str:
    """Mode and check of the only case, as the report says."""
    output = project.run(*args).outlines
    line = next(line for line in output if line.startswith("queries/q.json  ("))
    return line.removeprefix("queries/q.json  (fake; ").rstrip(")")


def write_case(project, *, of_case=None, of_file=None, of_ini=None) -> None:
    """A case with a mode or check said at some of three places."""
    project.write("queries/q.json", queries(case("c", **(of_case or {})), config=of_file or {}))
    if of_ini:
        lines = [f"soulmem_{name} = {value}" for name, value in of_ini.items()]
        project.write("pytest.ini", "\n".join(["[pytest]", *lines]))


@pytest.mark.parametrize("name", ["mode", "check"])
def test_precedence(project, name: str) -> None:
    """Command line, case, file, ini, default; each shows when those before it are silent."""
    default = {"mode": "full", "check": "order"}
    words = {"mode": MODES, "check": ("hit", "recall", "exact")}[name]

    def shown(*args: str, **said: object) -> str:
        write_case(project, **said)
        return judged(project, *args)

    def expected(word: str) -> str:
        return "; ".join(f"{key} {value}" for key, value in {**default, name: word}.items())

    first, second, third = ({name: word} for word in words)
    assert shown() == expected(default[name])
    assert shown(of_ini=first) == expected(words[0])
    assert shown(of_ini=first, of_file=second) == expected(words[1])
    assert shown(of_ini=first, of_file=second, of_case=third) == expected(words[2])
    assert shown(f"--soulmem-{name}={words[0]}", of_file=second, of_case=third) == expected(
        words[0]
    )
    assert shown(f"--soulmem-{name}={words[1]}", of_ini=first) == expected(words[1])


def columns(project, *args: str) -> list[str]:
    line = next(line for line in project.run(*args).outlines if "passed  recall@" in line)
    return [word.removeprefix("recall@") for word in line.split() if word.startswith("recall@")]


def test_cut_offs(project, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    project.write("queries/q.json", queries(config={"test_k_values": [3, 1, 3]}))
    assert columns(project) == ["1", "3"]
    project.write("pytest.ini", "[pytest]\nsoulmem_k = 2")
    assert columns(project) == ["2"]
    assert columns(project, "--soulmem-k=5") == ["5"]
    assert columns(project, "--soulmem-k=7, 1,7") == ["1", "7"]


WRONG = {
    "k": ["0", "-1", "a", "1,,2", "", "1.5", "1,0"],
    "mode": ["fast", "Full", ""],
    "check": ["all", "ORDER"],
    "pooling": ["max"],
    "rank": ["zz", "recal@5", "recall", "recall@0", "recall@x", ""],
    "laws": ["yes"],
    "embedder": ["e6", "BGE", "org/model"],
}
WRONG_PAIRS = [(name, value) for name, values in WRONG.items() for value in values]


@pytest.mark.parametrize(("name", "value"), WRONG_PAIRS)
def test_a_wrong_value_on_the_command_line_is_a_usage_error(project, name: str, value: str) -> None:
    project.write("queries/q.json", queries())
    result = project.run(f"--soulmem-{name}={value}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert any(f"argument --soulmem-{name}: {value!r} is " in line for line in result.errlines)
    assert "Traceback" not in result.stderr.str() + result.stdout.str()


@pytest.mark.parametrize(("name", "value"), WRONG_PAIRS)
def test_a_wrong_value_in_the_ini_is_a_usage_error(project, name: str, value: str) -> None:
    project.write("pytest.ini", f"[pytest]\nsoulmem_{name} = {value}")
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.errlines[0].startswith(f"ERROR: ini option soulmem_{name}: {value!r} is ")
    assert "Traceback" not in result.stderr.str() + result.stdout.str()


MAY_BE_EMPTY = ("instruction", "query-prefix", "passage-prefix")
TEXTS = [option.name for option in OPTIONS if option.metavar and option.name not in MAY_BE_EMPTY]


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("value", ["", " "])
def test_an_empty_value_is_a_usage_error(project, name: str, value: str) -> None:
    result = project.run(f"--soulmem-{name}={value}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert any(f"argument --soulmem-{name}: {value!r} is " in line for line in result.errlines)


@pytest.mark.parametrize("name", MAY_BE_EMPTY)
def test_a_text_before_others_may_be_empty(project, name: str) -> None:
    assert project.run(f"--soulmem-{name}=").ret == pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.mark.parametrize(
    "option",
    [
        "--soulmem-rank={}",
        "--soulmem-fail-under={}=0.5",
        "--soulmem-fail-under=queries/*.json:{}=0.5",
        "--soulmem-compare-fail={}:1%",
    ],
)
@pytest.mark.parametrize(
    ("metric", "meant"), [("recal@7", "recall@7"), ("action_hit", "action hit"), ("ndcg", "ndcg@5")]
)
def test_a_misspelt_metric_is_told_before_anything_runs(project, option, metric, meant) -> None:
    project.write("queries/q.json", queries())
    result = project.run(option.format(metric), "--soulmem-compare=none")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert f'{metric!r} is no metric; did you mean "{meant}"?' in result.stderr.str()
    right = project.run(option.format(meant), "--soulmem-compare=none")
    assert right.ret != pytest.ExitCode.USAGE_ERROR


INI_FILES = {
    "pytest.ini": "[pytest]\nsoulmem_mode = {}\nsoulmem_k = 2,1",
    "tox.ini": "[pytest]\nsoulmem_mode = {}\nsoulmem_k = 2,1",
    "setup.cfg": "[tool:pytest]\nsoulmem_mode = {}\nsoulmem_k = 2,1",
    "pyproject.toml": '[tool.pytest.ini_options]\nsoulmem_mode = "{}"\nsoulmem_k = [2, 1]',
    "pytest.toml": '[pytest]\nsoulmem_mode = "{}"\nsoulmem_k = ["2,1"]',
    "pyproject.toml native": '[tool.pytest]\nsoulmem_mode = "{}"\nsoulmem_k = ["2", "1"]',
}


@pytest.mark.parametrize("kind", INI_FILES)
def test_every_ini_file(project, monkeypatch, kind: str) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    place = kind.split()[0]
    project.write("queries/q.json", queries())
    project.write(place, INI_FILES[kind].format("association"))
    assert judged(project) == "mode association; check order"
    assert columns(project) == ["1", "2"]
    project.write(place, INI_FILES[kind].format("quick"))
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.errlines[0].startswith("ERROR: ini option soulmem_mode: 'quick' is none of ")


@pytest.mark.parametrize(
    ("value", "k"), [("5", "5"), ("[1, 3]", "1 3"), ('["1", "3"]', "1 3"), ('"1,3"', "1 3")]
)
def test_cut_offs_in_toml(project, monkeypatch, value: str, k: str) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    project.write("queries/q.json", queries())
    project.write("pyproject.toml", f"[tool.pytest.ini_options]\nsoulmem_k = {value}")
    # A value that pytest deprecates would be a warning.
    assert columns(project, "-W", "error") == k.split()


def test_cut_offs_of_several_lines_and_of_an_override(project, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    project.write("queries/q.json", queries())
    project.write("pytest.ini", "[pytest]\nsoulmem_k =\n  1,\n  3")
    assert columns(project) == ["1", "3"]
    assert columns(project, "-o", "soulmem_k=2, 5") == ["2", "5"]


@pytest.mark.parametrize("value", ['"query,passage"', '["query", "passage"]'])
def test_input_types_in_toml(project, value: str) -> None:
    project.write("pyproject.toml", f"[tool.pytest.ini_options]\nsoulmem_input_type = {value}")
    result = project.run("-W", "error")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert read_settings(project.pytester.parseconfig()).input_type == ("query", "passage")


@pytest.mark.parametrize("value", ["5", "[1, 3]", "true", '"1,3"'])
def test_a_wrong_type_in_native_toml_is_a_usage_error(project, value: str) -> None:
    project.write("pyproject.toml", f"[tool.pytest]\nsoulmem_k = {value}")
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "soulmem_k" in result.stderr.str()
    assert "Traceback" not in result.stderr.str() + result.stdout.str()


@pytest.mark.parametrize(("value", "loads"), [("true", False), ("false", True)])
def test_vectors_only(project, value: str, loads: bool) -> None:
    project.write("queries/q.json", queries())
    project.write("pytest.ini", f"[pytest]\nsoulmem_vectors_only = {value}")
    project.run().assert_outcomes(passed=int(loads), errors=int(not loads))
    project.run("--soulmem-vectors-only").assert_outcomes(errors=1)


def test_the_store_lies_where_it_is_named(project) -> None:
    project.write("queries/q.json", queries())
    project.write("below/pytest.ini", "[pytest]\nsoulmem_vectors = of_ini.sqlite3")
    ini = ("-c", "below/pytest.ini", "--rootdir=.", "--confcutdir=.")
    project.run(*ini, "queries").assert_outcomes(passed=1)
    assert (project.path / "below/of_ini.sqlite3").exists()
    project.run(*ini, "--soulmem-vectors=asked/v.sqlite3", "queries").assert_outcomes(passed=1)
    assert (project.path / "asked/v.sqlite3").exists()


def test_the_store_lies_in_pytests_cache_by_default(project) -> None:
    project.write("queries/q.json", queries())
    project.pytester.runpytest_inprocess().assert_outcomes(passed=1)
    assert list(project.path.glob(".pytest_cache/d/soulmem/vectors.sqlite3"))


def test_help_names_every_option(project) -> None:
    text = project.run("--help").stdout.str()
    for option in OPTIONS:
        assert f"--soulmem-{option.name}" in text
        assert f"  {option.dest} (" in text


@pytest.mark.parametrize(
    "option", ["--soulmem-compare-fail=recall@5:1%", "--soulmem-compare-systems"]
)
def test_how_to_compare_without_a_baseline_is_a_usage_error(pytester, option):
    result = pytester.runpytest_inprocess(option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    name = option.partition("=")[0].removeprefix("--")
    result.stderr.fnmatch_lines([f"*{name} needs soulmem-compare: with which baseline*"])


@pytest.mark.parametrize(
    ("first", "second"), [("x.out", "x.out"), ("x.out", "./x.out"), ("x.out", "link.out")]
)
def test_two_results_in_one_file_are_refused(project, first: str, second: str) -> None:
    project.write("queries/q.json", queries())
    project.write("x.out", "")
    (project.path / "link.out").symlink_to("x.out")
    result = project.run(f"--soulmem-json={first}", f"--soulmem-md={second}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--soulmem-json and --soulmem-md name one file: *.out*"])
