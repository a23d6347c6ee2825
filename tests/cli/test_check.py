"""``check``: what it warns of, which files it looks at, and its exit status."""

import json

import pytest
from projects import Project, action, case, concept, graph, link, queries, sub_query

from pytest_soulmem.cli import main
from pytest_soulmem.kinds import KINDS


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path)


def example(kind):
    """A valid file of a kind, as ``new`` writes it."""
    main(["new", kind, f"{FOLDERS[kind]}/a.json"])


FOLDERS = {kind.file: kind.places[0].partition("/")[0] for kind in KINDS}


@pytest.fixture
def findings(capsys):
    """The findings about some paths, as (place, message)."""

    def check(*paths):
        capsys.readouterr()
        main(["check", "--json", *paths])
        found = json.loads(capsys.readouterr().out)
        return [(own["place"], own["message"]) for own in found]

    return check


def edited(path, *steps):
    """Add the field `remark` to the object that the steps lead to."""
    document = json.loads(path.read_text("utf-8"))
    place = document
    for step in steps:
        place = place[step]
    place["remark"] = "x"
    path.write_text(json.dumps(document), "utf-8")


PLACES = {
    "query": [
        [],
        ["config"],
        ["test_cases", 0],
        ["test_cases", 0, "sub_queries", 0],
        ["test_cases", 0, "sub_queries", 0, "variant", "Semantic", 0],
    ],
    "forget": [[], ["config"], ["test_cases", 0]],
    "events": [[], ["scenarios", 0], ["scenarios", 0, "expected"]],
    "archive": [
        [],
        ["media", 0],
        ["documents", 0, "triples", 0],
        ["test_cases", 0],
        ["test_cases", 0, "steps", 0],
    ],
}


def test_every_kind_has_places_here():
    assert list(PLACES) == list(FOLDERS)


@pytest.mark.parametrize(
    ("kind", "steps"), [(kind, steps) for kind, places in PLACES.items() for steps in places]
)
def test_an_unknown_field_is_told_with_its_place(project, findings, kind, steps):
    example(kind)
    path = f"{FOLDERS[kind]}/a.json"
    edited(project.path / path, *steps)
    place = "$" + "".join(f"[{own}]" if isinstance(own, int) else f".{own}" for own in steps)
    assert findings(path) == [(f"{place}.remark", "unknown field `remark`, ignored")]


def test_an_unknown_field_of_a_graph(project, findings):
    nodes = [concept("tea", "茶", mem_links=[link("tea", "tea", since="x")], created_at="x")]
    project.write("graphs/g.json", nodes)
    assert findings("graphs/g.json") == [
        ("$[0].created_at", "unknown field `created_at`, ignored"),
        ("$[0].mem_links[0].since", "unknown field `since`, ignored"),
    ]


def test_an_unknown_field_stands_at_its_line_with_the_field_that_is_meant(project, capsys):
    wrong = case()
    wrong["expected_ranking"] = wrong.pop("expected_combined_ranking")
    project.write("queries/q.json", json.dumps(queries(wrong), indent=1))
    assert main(["check", "queries/q.json"]) == 0
    assert (
        "queries/q.json:40:24: warning: $.test_cases[0].expected_ranking: unknown field "
        "`expected_ranking`, ignored; did you mean `expected_combined_ranking`?\n"
    ) in capsys.readouterr().out


def test_a_crash_is_looked_into(project, findings):
    example("archive")
    path = project.path / "archive/a.json"
    document = json.loads(path.read_text("utf-8"))
    put = {"step": "put", "media": "flag", "context": "chat", "remark": "x"}
    crash = {"step": "crash_at", "point": "put.written", "during": put}
    document["test_cases"][0]["steps"].insert(0, crash)
    path.write_text(json.dumps(document), "utf-8")
    assert ("$.test_cases[0].steps[0].during.remark", "unknown field `remark`, ignored") in (
        findings("archive/a.json")
    )


def test_what_is_an_error_is_not_also_a_warning(project, findings):
    example("archive")
    path = project.path / "archive/a.json"
    document = json.loads(path.read_text("utf-8"))
    document["test_cases"][0]["steps"][0] |= {"entity": "x", "expect": {"outcome": 1}}
    path.write_text(json.dumps(document), "utf-8")
    assert sorted(place for place, _ in findings("archive/a.json")) == [
        "$.test_cases[0].steps[0].entity",
        "$.test_cases[0].steps[0].expect.outcome",
    ]


def test_a_file_with_errors_is_warned_of_too(project, findings):
    project.write("queries/q.json", queries(remark="x", config={"max_results": 0}))
    assert findings("queries/q.json") == [
        ("$.config.max_results", "expected `int` >= 1"),
        ("$.remark", "unknown field `remark`, ignored"),
    ]
    project.write("graphs/g.json", [concept("tea", "茶", remark="x", tags=1)])
    assert [place for place, _ in findings("graphs/g.json")] == ["$[0].tags", "$[0].remark"]


def test_events_are_left_as_they_were_recorded(project, findings):
    example("events")
    edited(project.path / "events/a.json", "scenarios", 0, "events", 0)
    assert findings("events/a.json") == []


def test_strictly_a_warning_counts(project, capsys):
    project.write("queries/q.json", queries(remark="x"))
    assert main(["check", "."]) == 0
    assert main(["check", "--strict", "."]) == 1
    project.write("queries/q.json", queries())
    assert main(["check", "--strict", "."]) == 0


@pytest.mark.parametrize(
    ("modes", "warned"),
    [((None, None), 0), (("association", None), 0), (("full", "embedding"), 1)],
)
def test_a_sweep_of_damping_where_nothing_walks(project, findings, modes, warned):
    cases = [case(name, mode=mode) for name, mode in zip("ab", modes, strict=True)]
    swept = {"blend_sweep": {"pairs": [{"tag": 0.5}, {"damping": 0.5}]}}
    project.write("queries/q.json", queries(*cases, **swept))
    message = "changes nothing in mode embedding, where PageRank does not run"
    told = [("$.blend_sweep.pairs[1].damping", message)] * warned
    assert findings("queries/q.json") == told


@pytest.mark.parametrize("threshold", [-1, 0.85, 1])
def test_a_threshold_that_scores_reach(project, findings, threshold):
    project.write("queries/q.json", queries(config={"similarity_threshold": threshold}))
    assert findings("queries/q.json") == []


@pytest.mark.parametrize(
    ("threshold", "hint"), [(85, "; 0.85 may be meant"), (1000, ""), (-1.5, "")]
)
def test_a_threshold_that_no_score_reaches(project, findings, threshold, hint):
    project.write("queries/q.json", queries(config={"similarity_threshold": threshold}))
    message = f"{threshold:g} separates nothing: scores lie between about -1 and 1{hint}"
    assert findings("queries/q.json") == [("$.config.similarity_threshold", message)]


@pytest.mark.parametrize("place", ["querys/x.json", "queries/deep/x.json", "x.json"])
def test_a_fixture_that_nobody_collects_is_named(project, capsys, place):
    project.write("queries/q.json", queries())
    project.write(place, queries())
    assert main(["check", "."]) == 0
    out = capsys.readouterr().out
    assert (
        f"{place}:1:1: warning: looks like a retrieval case, but is collected only where it is "
        "named: pytest finds files of this kind as queries/*.json and */question*.json\n"
    ) in out
    assert "2 file(s) checked: 0 error(s), 1 warning(s)" in out


def test_a_stray_file_is_told_by_its_kind(project, findings):
    project.write("queries/q.json", queries())
    for kind in ("forget", "events", "archive"):
        main(["new", kind, f"drafts/{kind}.json"])
    told = [message for _, message in findings(".")]
    assert [message.split(" as ")[-1] for message in told] == [
        "archive/*.json",
        "events/*.json",
        "forget/*.json",
    ]


@pytest.mark.parametrize(
    ("place", "content"),
    [
        ("package.json", {"name": "x"}),
        ("lists/g.json", graph()),
        ("drafts/broken.json", "{"),
        (".cache/x.json", queries()),
        ("node_modules/a/x.json", queries()),
    ],
)
def test_what_is_no_stray_fixture(project, findings, place, content):
    project.write("queries/q.json", queries(case(sub_queries=[sub_query()])))
    project.write("graphs/g.json", [*graph(), action("nod", "点头")])
    project.write(place, content)
    assert findings(".") == []


def test_a_folder_without_fixtures_is_wrong_usage(project, capsys):
    project.write("empty/package.json", {})
    assert main(["check", "empty"]) == 2
    told = capsys.readouterr()
    assert told.err == (
        "there is no fixture in empty: fixtures live in queries/*.json, */question*.json, "
        "forget/*.json, events/*.json, archive/*.json, graphs in graphs/*.json\n"
    )
    project.write("empty/querys/x.json", queries())
    assert main(["check", "empty"]) == 2
    assert "looks like a retrieval case" in capsys.readouterr().out
