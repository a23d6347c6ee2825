"""Users' own embedders and memory systems, good and bad."""

from __future__ import annotations

import json
import sqlite3
from hashlib import sha256

import pytest
from projects import EMBEDDER, action, case, graph, queries, sub_query

RETRIEVER = """
from pytest_soulmem.retrieval import Retrieval, Scored, ranked

class Mine:
    def __init__(self, graph):
        self.graph = graph

    def retrieve(self, query):
        {answer}

def pytest_soulmem_retriever(config, graph):
    return Mine(graph)
"""


def mine(answer: str) -> str:
    return RETRIEVER.format(answer=answer)


TEA_FIRST = 'ranked(["tea", "cup"])'


@pytest.fixture
def asked(project):
    project.write("queries/q.json", queries(case("c", expected_actions=["greet"])))
    return project


@pytest.mark.parametrize(
    "answer",
    [
        f"Retrieval({TEA_FIRST})",
        'Retrieval([Scored("tea", 0.0)], per_query=[[Scored("tea", -3)]])',
        f'Retrieval({TEA_FIRST}, [{TEA_FIRST}], [Scored("greet", 1)], [{TEA_FIRST}])',
        'Retrieval(combined=(Scored("tea", 0.1, key=2), Scored("cup", 0.9, key=1)))',
        'Retrieval(ranked([node.id for node in self.graph.nodes if "茶" in node.tags]))',
    ],
)
def test_a_retriever(asked, answer: str) -> None:
    asked.write("conftest.py", mine(f"return {answer}"))
    result = asked.run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["queries/q.json  (Mine; mode full; check order)"])


def test_what_a_retriever_does_not_tell_is_not_judged(asked) -> None:
    asked.write("conftest.py", mine(f"return Retrieval({TEA_FIRST})"))
    result = asked.run()
    result.assert_outcomes(passed=1)
    assert "action recall" not in result.stdout.str()
    asked.write("conftest.py", mine(f"return Retrieval({TEA_FIRST}, actions=[])"))
    asked.run().assert_outcomes(failed=1)
    asked.write("conftest.py", mine(f'return Retrieval({TEA_FIRST}, per_query=[ranked(["cup"])])'))
    asked.run().assert_outcomes(failed=1)


def test_a_retriever_is_asked_for_once_per_graph(project) -> None:
    project.write("other/g.json", [*graph(), action("wave", "挥手")])
    for number in range(3):
        project.write(f"queries/{number}.json", queries(case("a"), case("b")))
    project.write("queries/other.json", queries(graph_path="../other/g.json"))
    hook = mine(f"return Retrieval({TEA_FIRST})").replace(
        "    return Mine(graph)", "    print('ASKED', len(graph.nodes))\n    return Mine(graph)"
    )
    project.write("conftest.py", hook)
    result = project.run("-s")
    result.assert_outcomes(passed=7)
    output = result.stdout.str()
    assert [output.count(f"ASKED {count}") for count in (4, 5)] == [1, 1]


def test_a_retriever_need_not_be_there_for_every_graph(project) -> None:
    project.write("other/g.json", [*graph(), action("wave", "挥手")])
    project.write("queries/a.json", queries())
    project.write("queries/b.json", queries(graph_path="../other/g.json"))
    hook = mine(f"return Retrieval({TEA_FIRST})").replace(
        "return Mine(graph)", "return Mine(graph) if len(graph) > 4 else None"
    )
    project.write("conftest.py", EMBEDDER + hook)
    result = project.run()
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["queries/a.json  (fake; *", "queries/b.json  (Mine; *"])


NONSENSE = {
    "None": "retrieve() returned NoneType, not a pytest_soulmem Retrieval",
    '["tea"]': "retrieve() returned list, not a pytest_soulmem Retrieval",
    "Retrieval(None)": "combined is NoneType, not a list of Scored",
    'Retrieval({"tea": 1})': "combined is dict, not a list of Scored",
    'Retrieval(["tea"])': "combined, rank 1: str, not Scored",
    'Retrieval([("tea", 1.0)])': "combined, rank 1: tuple, not Scored",
    'Retrieval(ranked(["teaa"]))': (
        'combined, rank 1: no node has the id "teaa"; did you mean "tea"?'
    ),
    "Retrieval([Scored(7, 1.0)])": "combined, rank 1: the id is int, not text",
    'Retrieval([Scored(["tea"], 1.0)])': "combined, rank 1: the id is list, not text",
    'Retrieval([Scored("\\x1b[2J", 1.0)])': 'combined, rank 1: no node has the id "\\x1b[2J"',
    'Retrieval(ranked(["tea", "tea"]))': 'combined, rank 2: "tea" came back twice',
    'Retrieval(ranked(["tea", "cup", "sea", "greet"]))': (
        "combined has 4 results; at most 3 were asked for"
    ),
    'Retrieval([Scored("tea", 1), Scored("cup", 2)])': (
        'combined, rank 2: "cup" has a higher key than the result before it'
    ),
    'Retrieval([Scored("tea", float("nan"))])': (
        'combined, rank 1: the score of "tea" is not a finite number'
    ),
    'Retrieval([Scored("tea", "high")])': (
        'combined, rank 1: the score of "tea" is not a finite number'
    ),
    'Retrieval([Scored("tea", None)])': (
        'combined, rank 1: the score of "tea" is not a finite number'
    ),
    f"Retrieval({TEA_FIRST}, per_query=[])": "per_query must have one ranking per sub-query (1)",
    f"Retrieval({TEA_FIRST}, per_query=7)": "per_query must have one ranking per sub-query (1)",
    f"Retrieval({TEA_FIRST}, per_query=[None])": "per_query[0] is NoneType, not a list of Scored",
    f"Retrieval({TEA_FIRST}, similarity=[[1]])": "similarity[0], rank 1: int, not Scored",
    f'Retrieval({TEA_FIRST}, actions=ranked(["cup"]))': 'actions: "cup" is no Procedure node',
    f"Retrieval({TEA_FIRST}, actions=3)": "actions is int, not a list of Scored",
}


@pytest.mark.parametrize("answer", NONSENSE)
def test_nonsense_is_named(asked, answer: str) -> None:
    asked.write("conftest.py", mine(f"return {answer}"))
    result = asked.run()
    result.assert_outcomes(failed=1)
    output = result.stdout.str()
    assert f"the retriever's answer cannot be judged: {NONSENSE[answer]}\n" in output
    assert f"\n  Mine: {NONSENSE[answer]}\n" in output
    assert "pytest_soulmem/" not in output
    assert "\x1b" not in output


def test_numbers_of_numpy_are_numbers(asked) -> None:
    answer = 'import numpy as np; return Retrieval([Scored("tea", np.float32(0.5))])'
    asked.write("conftest.py", mine(answer))
    asked.run("--junitxml=x.xml").assert_outcomes(passed=1)


RAISING = """
def deep():
    try:
        {}["key"]
    except KeyError as error:
        raise RuntimeError("no \\x1bconnection\\nto the store") from error
"""


@pytest.mark.parametrize("where", ["retrieve", "hook"])
def test_an_error_of_the_users_shows_their_frames_alone(asked, where: str) -> None:
    hook = mine("deep()" if where == "retrieve" else "pass")
    if where == "hook":
        hook = hook.replace("return Mine(graph)", "deep()")
    asked.write("conftest.py", RAISING + hook)
    result = asked.run()
    result.assert_outcomes(failed=1)
    lines = result.outlines
    start = next(at for at, line in enumerate(lines) if "retrieval: c" in line)
    shown = lines[start + 1 : lines.index("to the store")]
    assert shown[0].startswith(f'  File "{asked.path / "conftest.py"}"')
    assert shown[-1] == "RuntimeError: no \\x1bconnection"
    assert any("The above exception was the direct cause" in line for line in shown)
    assert any(line == "KeyError: 'key'" for line in shown)
    for unwanted in ("pytest_soulmem/", "pluggy/", "\x1b"):
        assert unwanted not in result.stdout.str()
    result.stdout.fnmatch_lines(
        ["FAILED queries/q.json::c - RuntimeError: no \\x1bconnection"], consecutive=False
    )


def test_an_error_in_the_hook_is_told_once(project) -> None:
    project.write("queries/q.json", queries(case("a"), case("b"), case("c")))
    project.write("conftest.py", RAISING + "def pytest_soulmem_retriever(config, graph): deep()")
    result = project.run()
    result.assert_outcomes(failed=1, errors=2)
    assert result.stdout.str().count("in deep") == 2, "the error and its cause, of one case"
    assert result.stdout.str().count('\nnothing to retrieve with: see "a" in q.json\n') == 2
    told = "soulmem: 3 case(s) could not run: RuntimeError: no \\x1bconnection. In full: "
    assert result.outlines[-2] == f"{told}queries/q.json::a"


def test_a_hook_may_fail(asked) -> None:
    hook = "import pytest\ndef pytest_soulmem_retriever(config, graph): pytest.fail('no server')"
    asked.write("conftest.py", hook)
    result = asked.run()
    result.assert_outcomes(failed=1)
    assert "FAILED queries/q.json::c - Failed: no server" in result.outlines
    for unwanted in ("pytest_soulmem/", "pluggy/", "outcomes.py"):
        assert unwanted not in result.stdout.str()


def test_an_interrupt_in_a_hook_ends_the_run(asked) -> None:
    asked.write("conftest.py", "def pytest_soulmem_embedder(config): raise KeyboardInterrupt")
    result = asked.pytester.runpytest_inprocess("-p", "no:cacheprovider", no_reraise_ctrlc=True)
    assert result.ret == pytest.ExitCode.INTERRUPTED


@pytest.mark.parametrize("does", ["raise SystemExit(3)", "import sys; sys.exit('no server')"])
@pytest.mark.parametrize("where", ["retriever(config, graph)", "embedder(config)"])
def test_a_hook_that_exits_fails_its_cases(project, where: str, does: str) -> None:
    project.write("test_other.py", "def test_it(): pass")
    project.write("queries/q.json", queries(case("a"), case("b")))
    project.write("conftest.py", f"def pytest_soulmem_{where}:\n    {does}\n")
    result = project.run()
    result.assert_outcomes(failed=1, errors=1, passed=1)
    result.stdout.fnmatch_lines(["FAILED queries/q.json::a - SystemExit: *"])
    for unwanted in ("pytest_soulmem/", "INTERNALERROR"):
        assert unwanted not in result.stdout.str()


@pytest.mark.parametrize("answer", ["exit(3)", "raise SystemExit"])
def test_a_retriever_that_exits_fails_its_case(asked, answer: str) -> None:
    asked.write("conftest.py", mine(answer))
    result = asked.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["FAILED queries/q.json::c - SystemExit*"])


def test_a_hook_may_end_the_run(asked) -> None:
    hook = "import pytest\ndef pytest_soulmem_retriever(config, graph): pytest.exit('enough', 7)"
    asked.write("conftest.py", hook)
    assert asked.run().ret == 7


TEXT_TYPES = """
import enum
import numpy as np

class Old(str, enum.Enum):
    tea = "tea"
    cup = "cup"

class Own(str):
    def __str__(self):
        return "something else"

"""


@pytest.mark.parametrize("kind", ["np.str_", "Old", "Own"])
@pytest.mark.parametrize("order", [("tea", "cup"), ("cup", "tea")])
@pytest.mark.parametrize("options", [(), ("--soulmem-json=r.json", "--soulmem-html=r.html")])
def test_ids_of_a_subclass_of_text_are_text(project, kind: str, order, options) -> None:
    """The verdict is the one on plain text, whatever is written."""
    project.write("queries/q.json", queries(case("c", expected_combined_ranking=["tea", "cup"])))
    ids = "[" + ", ".join(f'{kind}("{name}")' for name in order) + "]"
    explain = (
        "\n    def explain(self, query, ids):\n"
        f'        return [{{{kind}(name): {{{kind}("tea"): 0.5}} for name in ids}}]\n'
    )
    retriever = mine(f"return Retrieval(ranked({ids}), per_query=[ranked({ids})])")
    project.write("conftest.py", TEXT_TYPES + retriever.replace("\ndef p", f"{explain}\ndef p"))
    result = project.run(*options)
    failed = int(order[0] != "tea")
    result.assert_outcomes(failed=failed, passed=1 - failed)
    if options:
        (found,) = json.loads((project.path / "r.json").read_bytes())["cases"]
        assert found["result"]["retrieved"] == list(order)
        assert [hit["id"] for hit in found["result"]["rankings"][0]["retrieved"]] == list(order)


@pytest.mark.parametrize("where", ["retriever", "embedder"])
def test_a_hook_may_skip(project, where: str) -> None:
    project.write("queries/q.json", queries(case("a"), case("b")))
    arguments = "config, graph" if where == "retriever" else "config"
    hook = f"import pytest\ndef pytest_soulmem_{where}({arguments}): pytest.skip('no database')"
    project.write("conftest.py", hook)
    result = project.run("-rs")
    result.assert_outcomes(skipped=2)
    assert "no database" in result.stdout.str()


@pytest.mark.parametrize("returned", ['"x"', "7", "Mine", "object()"])
def test_a_hook_that_returns_no_retriever(asked, returned: str) -> None:
    asked.write("conftest.py", mine("pass").replace("return Mine(graph)", f"return {returned}"))
    result = asked.run()
    result.assert_outcomes(errors=1)
    told = [line for line in result.outlines if "pytest_soulmem_retriever returned" in line]
    assert told
    assert "has no method retrieve" in told[0] or "the class Mine" in told[0]
    assert "pytest_soulmem/" not in result.stdout.str()


def explaining(answer: str) -> str:
    """A retriever whose answers are wrong, and what it says about their scores."""
    explain = f"\n    def explain(self, query, ids):\n        return {answer}\n\n"
    wrong = mine('return Retrieval(ranked(["cup", "tea"]))')
    return wrong.replace("\ndef pytest", f"{explain}\ndef pytest")


def test_a_retriever_may_explain_its_scores(asked) -> None:
    answer = '[{name: {"nearness": 0.25, "similarity": 0.5} for name in ids}]'
    asked.write("conftest.py", explaining(answer))
    asked.write("queries/q.json", queries(case("c", expected_combined_ranking=["tea", "cup"])))
    result = asked.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*rank*id*nearness*similarity  memory", "*2  tea*0.2500*0.5000  茶*"]
    )


@pytest.mark.parametrize("value", ["float('nan')", "float('-inf')"])
def test_a_channel_that_is_no_number_is_told(asked, value: str) -> None:
    answer = f'[{{name: {{"near": {value}, "similarity": 0.5}} for name in ids}}]'
    asked.write("conftest.py", explaining(answer))
    asked.write("queries/q.json", queries(case("c", expected_combined_ranking=["tea", "cup"])))
    result = asked.run("--soulmem-json=r.json", "--soulmem-html=r.html")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*explain() of Mine gave ValueError: near is *, no finite number"])
    assert "near is" in (asked.path / "r.html").read_text("utf-8")
    (found,) = json.loads((asked.path / "r.json").read_bytes())["cases"]
    assert [hit["channels"] for hit in found["result"]["rankings"][0]["retrieved"]] == [{}, {}]


BAD_EXPLANATIONS = ["None", "[]", "[{}]", "7", '[{"tea": 3}]', "1 / 0", '[{"tea": {"x": "y"}}]']


@pytest.mark.parametrize("answer", BAD_EXPLANATIONS)
def test_a_bad_explanation_hides_no_failure(asked, answer: str) -> None:
    asked.write("conftest.py", explaining(answer))
    asked.write("queries/q.json", queries(case("c", expected_combined_ranking=["tea", "cup"])))
    result = asked.run()
    result.assert_outcomes(failed=1)
    assert 'order: combined ranking: "tea"' in result.stdout.str()
    assert "pytest_soulmem/" not in result.stdout.str()


def test_the_protocols_describe_what_users_write() -> None:
    from pytest_soulmem.retrieval import Retrieval, ranked
    from pytest_soulmem.retrieval.retriever import Explainer

    class Plain:
        def retrieve(self, query):
            return Retrieval(ranked([]))

    class Explaining(Plain):
        def explain(self, query, ids):
            return []

    assert not isinstance(Plain(), Explainer)
    assert isinstance(Explaining(), Explainer)


# --- embedders ----------------------------------------------------------------------------------


DAMAGES = {
    "text": "vector = 'text'",
    "too short": "vector = substr(vector, 1, 7)",
    "NaN": "vector = CAST(x'0000c07f' || substr(vector, 5) AS BLOB)",
}


@pytest.mark.parametrize("where", ["side = 'query'", "side = 'passage'", "digest = :tag"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_vector_is_told_once(project, where: str, damage: str) -> None:
    tagged = [sub_query(tag=["绿茶"])]
    project.write("queries/q.json", queries(case("a"), case("b", sub_queries=tagged)))
    project.run("--soulmem-vectors=v.sqlite3").assert_outcomes(passed=2)
    connection = sqlite3.connect(project.path / "v.sqlite3")
    with connection:
        statement = f"UPDATE vector SET {DAMAGES[damage]} WHERE {where}"  # noqa: S608
        changed = connection.execute(statement, {"tag": sha256("绿茶".encode()).digest()})
        assert changed.rowcount
    connection.close()
    result = project.run("--soulmem-vectors=v.sqlite3")
    result.assert_outcomes(errors=2)
    output = result.stdout.str()
    assert output.count("the vector store is damaged (") == 1
    result.stdout.fnmatch_lines([f"{project.path / 'v.sqlite3'}: the vector store is damaged *"])
    result.stdout.fnmatch_lines(['nothing to retrieve with: see "a" in q.json'])
    for unwanted in ("INTERNALERROR", "Traceback", "pytest_soulmem/"):
        assert unwanted not in output


def test_a_damaged_vector_stops_only_the_cases_of_its_graph(project) -> None:
    project.write("other/g.json", [*graph(), action("wave", "挥手")])
    project.write("queries/a.json", queries(case("a"), case("b")))
    project.write("queries/other.json", queries(case("c"), case("d"), graph_path="../other/g.json"))
    project.run("--soulmem-vectors=v.sqlite3").assert_outcomes(passed=4)
    connection = sqlite3.connect(project.path / "v.sqlite3")
    with connection:
        statement = "UPDATE vector SET vector = 'text' WHERE digest = ?"
        assert connection.execute(statement, (sha256("挥手".encode()).digest(),)).rowcount
    connection.close()
    result = project.run("--soulmem-vectors=v.sqlite3")
    result.assert_outcomes(passed=2, errors=2)
    assert result.stdout.str().count("the vector store is damaged (") == 1
    result.stdout.fnmatch_lines(['nothing to retrieve with: see "c" in other.json'])


def embedder_that(does: str) -> str:
    """The fake embedder, doing something before it embeds."""
    return EMBEDDER.replace("        return np.array", f"        {does}\n        return np.array")


def test_no_embedder_is_told_in_a_paragraph_once(project, monkeypatch) -> None:
    from pytest_soulmem.embedders import bge, e5

    monkeypatch.setattr(bge, "is_installed", lambda: False)
    monkeypatch.setattr(e5, "is_installed", lambda: False)
    project.write("conftest.py", "")
    project.write("queries/a.json", queries(case("a"), case("b"), case("c", check="no")))
    project.write("queries/b.json", queries(case("d")))
    result = project.run("--tb=short")
    result.assert_outcomes(errors=3, failed=1)
    output = result.stdout.str()
    assert output.count("There are three ways on: ") == 1
    assert output.count('\nnothing to retrieve with: see "a" in a.json\n') == 2
    assert "Traceback" not in output
    assert "pytest_soulmem/" not in output
    summary = output.split("short test summary info")[1].splitlines()
    assert summary[-2].startswith("soulmem: 3 case(s) could not run: ")
    assert summary[-2].endswith(". In full: queries/a.json::a")


def test_an_embedder_of_a_module(project) -> None:
    project.write("conftest.py", "")
    project.write("my_embedder.py", EMBEDDER)
    project.write("pytest.ini", "[pytest]\npythonpath = .")
    project.write("queries/q.json", queries())
    project.run("--soulmem-embedder=my_embedder:Fake").assert_outcomes(passed=1)
    for name, told in {
        "my_embedder:Fakes": "has no Fakes",
        "no_such_module:Fake": "cannot be imported: ModuleNotFoundError",
    }.items():
        result = project.run(f"--soulmem-embedder={name}")
        result.assert_outcomes(errors=1)
        assert told in result.stdout.str()
        assert "pytest_soulmem/" not in result.stdout.str()


def test_an_embedder_that_fails_shows_the_users_frames(project) -> None:
    project.write(
        "conftest.py",
        embedder_that("1 / 0"),
    )
    project.write("queries/q.json", queries(case("a"), case("b")))
    result = project.run()
    result.assert_outcomes(errors=2)
    output = result.stdout.str()
    assert "failed on 4 texts of the passage side: ZeroDivisionError: division by zero" in output
    assert f'  File "{project.path / "conftest.py"}", line' in output
    assert output.count("1 / 0") == 1
    assert "pytest_soulmem/" not in output


@pytest.mark.parametrize("made", ["[]", "None", "[[1.0]]", "[['x'] for _ in texts]"])
def test_an_embedder_that_gives_no_vectors(project, made: str) -> None:
    hook = EMBEDDER.replace("np.array([self._vector(text) for text in texts], np.float32)", made)
    project.write("conftest.py", hook)
    project.write("queries/q.json", queries())
    result = project.run()
    result.assert_outcomes(errors=1)
    assert "gave no usable vectors for 4 texts of the passage side" in result.stdout.str()
    assert "pytest_soulmem/" not in result.stdout.str()


def test_only_what_is_selected_is_embedded(project) -> None:
    hook = EMBEDDER.replace(
        "        return np.array", "        print('TEXTS', side, *texts)\n        return np.array"
    )
    project.write("conftest.py", hook)
    project.write("queries/q.json", queries(case("a"), case("b", sub_queries=[sub_query("水")])))
    output = project.run("-s", "queries/q.json::a").stdout.str()
    assert "TEXTS passage" in output
    assert "水" not in output
