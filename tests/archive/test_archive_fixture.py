"""Broken archive files: every fault is told, with its place and what was meant."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
from archive_helpers import ARCHIVE, FLAG, NOTES, PUT, TRANSFER, document

from pytest_soulmem.archive.fixture import Scenario, load_archive_file
from pytest_soulmem.cases import BrokenCase
from pytest_soulmem.faults import FixtureError

PATH = Path("x.json")
CRASH = {"step": "crash_at", "point": "archive.bound", "during": ARCHIVE}
STEP = "$.test_cases[0].steps[0]"
LAST = "$.test_cases[0].steps[2]"


def steps(*broken):
    """Scenarios are broken one by one: the step stands after the two that make a document."""
    return document(PUT, TRANSFER, *broken)


def expecting(step, **expect):
    return steps({**step, "expect": expect})


BROKEN_STEPS = {
    "unknown step": (
        steps({"step": "achive"}),
        f'{LAST}.step (case "case"): no step is called "achive"',
        'did you mean "archive"?',
    ),
    "no step": (steps({"document": "notes"}), f"{LAST} ", "the field `step` is missing"),
    "step is no object": (steps("archive"), f"{LAST} ", "expected `object`"),
    "misspelt field": (
        steps({"step": "archive", "documents": "notes"}),
        f"{LAST} ",
        "unknown field `documents`; did you mean `document`?",
    ),
    "field of another step": (
        steps({**ARCHIVE, "media": "flag"}),
        f"{LAST}.media ",
        'a step "archive" has no field `media`',
    ),
    "missing field": (steps({"step": "put"}), f"{LAST} ", "the field `media` is missing"),
    "wrong type": (
        steps({"step": "advance_hours", "hours": "2"}),
        f"{LAST}.hours ",
        "expected `float`",
    ),
    "time runs backwards": (
        steps({"step": "advance_hours", "hours": -1}),
        f"{LAST}.hours ",
        ">= 0",
    ),
    "negative capacity": (
        steps({"step": "gc", "capacity_bytes": -1}),
        f"{LAST}.capacity_bytes ",
        ">= 0",
    ),
    "unknown media": (
        steps({"step": "put", "media": "flog"}),
        f"{LAST}.media ",
        'no media is called "flog"; did you mean "flag"?',
    ),
    "unknown document": (
        steps({"step": "archive", "document": "nots"}),
        f"{LAST}.document ",
        'no document is called "nots"; did you mean "notes"?',
    ),
    "archived before it was made": (
        document(PUT, ARCHIVE),
        "$.test_cases[0].steps[1].document ",
        'no step before this one transfers the document "notes"',
    ),
    "unknown crash point": (
        steps({**CRASH, "point": "archive.bond"}),
        f"{LAST}.point ",
        'no crash point is called "archive.bond"; did you mean "archive.bound"?',
    ),
    "point of another step": (
        steps({**CRASH, "point": "gc.committed"}),
        f"{LAST}.during ",
        'a step "archive" never passes the point "gc.committed"',
    ),
    "crash during nothing": (
        steps({"step": "crash_at", "point": "gc.deleted"}),
        f"{LAST} ",
        "the field `during` is missing",
    ),
    "unknown step during a crash": (
        steps({**CRASH, "during": {"step": "arhive"}}),
        f"{LAST}.during.step ",
        'did you mean "archive"?',
    ),
    "expectation of a step cut short": (
        steps({**CRASH, "during": {**ARCHIVE, "expect": {"document": "kept"}}}),
        f"{LAST}.during.expect ",
        "expect it after the crash",
    ),
    "unknown expectation": (
        expecting(ARCHIVE, outcome="gone"),
        f"{LAST}.expect.outcome ",
        "nothing called `outcome` can be expected",
    ),
    "misspelt expectation": (
        expecting(ARCHIVE, relased=["flag"]),
        f"{LAST}.expect ",
        "did you mean `released`?",
    ),
    "expectation of another step": (
        expecting(ARCHIVE, recalled=["flag"]),
        f"{LAST}.expect.recalled ",
        'only a step "recall" answers this',
    ),
    "neither gone nor kept": (
        expecting(ARCHIVE, document="deleted"),
        f"{LAST}.expect.document ",
        "invalid enum value 'deleted'",
    ),
    "unknown reason": (
        expecting(ARCHIVE, kept={"flag": "because"}),
        f"{LAST}.expect.kept ",
        "invalid enum value 'because'",
    ),
    "unknown media expected": (
        expecting(ARCHIVE, stored=["flgg"]),
        f"{LAST}.expect.stored ",
        'did you mean "flag"?',
    ),
    "unknown document expected": (
        expecting(ARCHIVE, documents=["note"]),
        f"{LAST}.expect.documents ",
        'did you mean "notes"?',
    ),
    "unknown kind of owner": (
        expecting(ARCHIVE, references={"flag": ["dokument:notes"]}),
        f"{LAST}.expect.references.flag ",
        'did you mean "document"?',
    ),
    "owner without a name": (
        expecting(ARCHIVE, references={"flag": ["document"]}),
        f"{LAST}.expect.references.flag ",
        "name the owner: `document:…`",
    ),
    "sentence with a name": (
        expecting(ARCHIVE, references={"flag": ["graph_sentence:3"]}),
        f"{LAST}.expect.references.flag ",
        "sentences have no names",
    ),
    "placeholder of unknown media": (
        steps({"step": "recall", "entity": "{entity:flog}"}),
        f"{LAST}.entity ",
        'did you mean "flag"?',
    ),
    "misspelt placeholder": (
        expecting(ARCHIVE, entities=["{entiy:flag}"]),
        f"{LAST}.expect.entities ",
        'no placeholder is called {entiy:…}; did you mean "entity"?',
    ),
    "statement of two parts": (
        expecting(ARCHIVE, graph=[["图片", "类型"]]),
        f"{LAST}.expect.graph[0] ",
        "length 3",
    ),
}


@pytest.mark.parametrize("name", BROKEN_STEPS)
def test_a_broken_step_breaks_its_scenario_alone(name):
    raw, place, message = BROKEN_STEPS[name]
    raw = copy.deepcopy(raw)
    raw["test_cases"].append({"name": "whole", "steps": [PUT]})
    broken, whole = load_archive_file(PATH, raw).cases
    assert isinstance(broken, BrokenCase)
    assert isinstance(whole, Scenario)
    (fault,) = broken.faults
    assert str(fault).startswith(place)
    assert message in str(fault)


BROKEN_FILES = {
    "no media name": (document(media=[{"mime": "image/png", "text": "x"}]), "$.media[0]: "),
    "two contents": (document(media=[{**FLAG, "base64": "eA=="}]), "found both"),
    "no content": (document(media=[{"name": "flag", "mime": "image/png"}]), "found none of them"),
    "not base64": (
        document(media=[{"name": "flag", "mime": "image/png", "base64": "?"}]),
        "$.media[0].base64: not base64",
    ),
    "no mime type": (document(media=[{**FLAG, "mime": "image"}]), "$.media[0].mime: "),
    "media twice": (document(media=[FLAG, FLAG]), '$.media[1].name: the name "flag" is taken'),
    "one content, two names": (
        document(media=[FLAG, {**FLAG, "name": "other"}]),
        '$.media[1]: its content is that of "flag"',
    ),
    "document twice": (document(documents=[NOTES, NOTES]), '"notes" is taken by $.documents[0]'),
    "text names unknown media": (
        document(documents=[{"name": "notes", "text": "{marker:flog}"}]),
        '$.documents[0].text: no media is called "flog"; did you mean "flag"?',
    ),
    "triple without relation": (
        document(documents=[{**NOTES, "triples": [{"subject": "ab", "object": "cd"}]}]),
        "$.documents[0].triples[0]: the field `relation` is missing",
    ),
    "unknown law": (document(laws={"names-sty": False}), 'did you mean "names-stay"?'),
    "law switched on": (document(laws={"names-stay": True}), "$.laws.names-stay: expected false"),
    "no scenario": (document(test_cases=[]), "$.test_cases: "),
    "misspelt config": (
        document(config={"min_age_hour": 2}),
        "$.config: unknown field `min_age_hour`; did you mean `min_age_hours`?",
    ),
    "negative age": (document(config={"min_age_hours": -1}), "$.config.min_age_hours: "),
    "no description": (document(description=None), "$: the field `description` is missing"),
}


@pytest.mark.parametrize("name", BROKEN_FILES)
def test_a_broken_file_is_refused_with_a_place(name):
    raw, message = BROKEN_FILES[name]
    with pytest.raises(FixtureError) as caught:
        load_archive_file(PATH, raw)
    assert message in str(caught.value)


def test_all_faults_of_a_file_are_told_together():
    raw = steps({"step": "achive"})
    raw["media"] = [{**FLAG, "base64": "eA=="}]
    with pytest.raises(FixtureError) as caught:
        load_archive_file(PATH, raw)
    assert len(caught.value.faults) == 2


@pytest.mark.parametrize(
    ("name", "message"), [("", "empty"), ("a::b", "::"), ("a\nb", "control character")]
)
def test_names_are_those_of_items(name, message):
    raw = document()
    raw["test_cases"][0]["name"] = name
    (case,) = load_archive_file(PATH, raw).cases
    assert message in str(case.faults[0])


def test_unknown_fields_beyond_expectations_are_left_to_newer_writers():
    raw = document({**PUT, "remark": "x"}, author="someone")
    (case,) = load_archive_file(PATH, raw).cases
    assert isinstance(case, Scenario)
