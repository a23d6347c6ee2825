"""Which forget files are accepted, and what is said about the others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings

from forgetting.helpers import CASES, FIXTURES, case, document
from pytest_soulmem import strategies
from pytest_soulmem.faults import FixtureError
from pytest_soulmem.forgetting.fixture import (
    CASE_TYPES,
    LAW_NAMES,
    BrokenCase,
    has_word,
    load_forget_file,
)
from pytest_soulmem.forgetting.terms import CurveSettings

HERE = Path("forget/x.json")


def load(raw):
    return load_forget_file(HERE, raw)


def test_the_smallest_file_has_the_defaults():
    file = load(document())
    assert file.settings == CurveSettings(24.0, 0.1, 50)
    assert file.laws == LAW_NAMES
    assert file.law_tolerance == 1e-9
    assert file.cases[0].memory.retrieval_count == 0


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.json")), ids=lambda path: path.stem)
def test_our_own_fixtures_have_every_kind_and_both_memories(path):
    file = load_forget_file(path, json.loads(path.read_text(encoding="utf-8")))
    assert {case.kind for case in file.cases} == set(CASE_TYPES)
    assert {case.memory.kind for case in file.cases} == {"semantic", "situation"}


def test_what_newer_writers_add_is_ignored():
    file = load(document(case(description="x", priority=3), author="x"))
    assert not isinstance(file.cases[0], BrokenCase)


def test_names_are_normalised_and_stripped():
    assert load(document(case(name="  e\u0301 "))).cases[0].name == "é"


def test_laws_can_be_named_off():
    file = load(document(laws={"composition": False}, law_tolerance=0.01))
    assert "composition" not in file.laws
    assert len(file.laws) == len(LAW_NAMES) - 1
    assert file.law_tolerance == 0.01


def test_each_text_and_kind_of_memory_is_tried_once():
    file = load(document(case(name="a"), case(name="b", retrieval_count=3), case("effect")))
    assert [memory.kind for memory in file.memories] == ["semantic"]


@settings(max_examples=50)
@given(strategies.forget_files())
def test_generated_files_are_accepted(raw):
    file = load(json.loads(json.dumps(raw)))
    assert not any(isinstance(case, BrokenCase) for case in file.cases)


@pytest.mark.parametrize("text", ["a", "记忆", "3", "😀", " 😀 "])
def test_texts_with_a_word(text):
    assert has_word(text)


@pytest.mark.parametrize("text", ["", " ", "\u3000\n", "。，！", "\u200b", "--"])
def test_texts_without_a_word(text):
    assert not has_word(text)


BROKEN_FILES = {
    "half-life 0": (
        document(config={"base_half_life_hours": 0}),
        "$.config.base_half_life_hours: expected `float` > 0",
    ),
    "negative factor": (
        document(config={"active_factor": -0.1}),
        "$.config.active_factor: expected `float` >= 0",
    ),
    "negative cap": (
        document(config={"max_activation_cap": -1}),
        "$.config.max_activation_cap: expected `int` >= 0",
    ),
    "fractional cap": (
        document(config={"max_activation_cap": 1.5}),
        "$.config.max_activation_cap: expected `int`",
    ),
    "misspelt config": (
        document(config={"base_half_life_hour": 3}),
        "unknown field `base_half_life_hour`; did you mean `base_half_life_hours`?",
    ),
    "misspelt field": (
        document(confg={}),
        "unknown field `confg`; did you mean `config`?",
    ),
    "no description": (document(description=None), "$: the field `description` is missing"),
    "no cases": (document(test_cases=[]), "$.test_cases: expected `array` of length >= 1"),
    "cases that are no array": (document(test_cases={}), "$.test_cases: expected `array`"),
    "unknown law": (
        document(laws={"compositon": False}),
        '$.laws: no law is called "compositon"; did you mean "composition"?',
    ),
    "law named on": (document(laws={"scale": True}), "$.laws.scale: expected false"),
    "laws that are no object": (document(laws=["scale"]), "$.laws: expected `object`"),
    "negative tolerance": (
        document(law_tolerance=-1e-3),
        "$.law_tolerance: expected `float` >= 0",
    ),
    "tolerance that lets all pass": (
        document(law_tolerance=1),
        "$.law_tolerance: expected `float` < 1",
    ),
}


@pytest.mark.parametrize(("raw", "expected"), BROKEN_FILES.values(), ids=BROKEN_FILES)
def test_broken_files(raw, expected):
    with pytest.raises(FixtureError) as caught:
        load(raw)
    assert expected in str(caught.value)
    assert len(caught.value.faults) == 1


BROKEN_CASES = {
    "unsorted moments": (
        case("time_monotonic", time_offsets_hours=[0, 24, 6]),
        ".time_offsets_hours[2]",
        "the moments must ascend: 6 stands after 24",
    ),
    "negative moment": (
        case("time_monotonic", time_offsets_hours=[-1, 6]),
        ".time_offsets_hours[0]",
        "expected `float` >= 0",
    ),
    "one moment": (
        case("time_monotonic", time_offsets_hours=[6]),
        ".time_offsets_hours",
        "at least two moments",
    ),
    "moment as text": (
        case("time_monotonic", time_offsets_hours=[0, "6"]),
        ".time_offsets_hours[1]",
        "expected `float`, got `str`",
    ),
    "negative count": (
        case("time_monotonic", retrieval_count=-1),
        ".retrieval_count",
        "expected `int` >= 0",
    ),
    "fractional count": (
        case("activation", activation_counts=[0, 1.5]),
        ".activation_counts[1]",
        "expected `int`",
    ),
    "count beyond exact numbers": (
        case("activation", activation_counts=[0, 2**60]),
        ".activation_counts[1]",
        "expected `int` <=",
    ),
    "equal counts": (
        case("activation", activation_counts=[5, 5]),
        ".activation_counts",
        "at least two different counts",
    ),
    "branch of two": (
        case("branch", time_offsets_hours=[0, 4]),
        ".time_offsets_hours",
        "exactly three moments are needed, one per branch; found 2",
    ),
    "branch of four": (
        case("branch", time_offsets_hours=[0, 4, 96, 97]),
        ".time_offsets_hours",
        "found 4",
    ),
    "branch unsorted": (
        case("branch", time_offsets_hours=[96, 4, 100]),
        ".time_offsets_hours[1]",
        "must ascend",
    ),
    "negative time": (
        case(time_offset_hours=-0.5),
        ".time_offset_hours",
        "expected `float` >= 0",
    ),
    "degree above 1": (
        case(expected_missing_degree=1.5),
        ".expected_missing_degree",
        "expected `float` <= 1",
    ),
    "negative tolerance": (case(tolerance=-1), ".tolerance", "expected `float` >= 0"),
    "no tolerance": (case(tolerance=None), "", "the field `tolerance` is missing"),
    "unknown kind": (
        case("magnitud", **CASES["magnitude"]),
        ".kind",
        'no kind is called "magnitud" (time_monotonic, activation, magnitude, branch, effect); '
        'did you mean "magnitude"?',
    ),
    "no kind": (case(kind=None) | {"kind": 3}, ".kind", "expected `str`, got `int`"),
    "unknown action": (
        case("effect", expected={"should_forget": True, "min_action": "Mask"}),
        ".expected.min_action",
        "invalid enum value 'Mask'",
    ),
    "unknown memory": (case("effect", mem_kind="procedure"), ".mem_kind", "invalid enum value"),
    "contradiction": (
        case("effect", expected={"should_forget": False, "min_action": "MaskOnly"}),
        ".expected.min_action",
        "contradicts `should_forget: false`",
    ),
    "no expectation": (case("effect", expected=None), "", "the field `expected` is missing"),
    "yes for true": (
        case("effect", expected={"should_forget": "yes", "min_action": "NoAction"}),
        ".expected.should_forget",
        "expected `bool`, got `str`",
    ),
    "misspelt field": (
        case(retrieval_counts=3),
        "",
        "unknown field `retrieval_counts`; did you mean `retrieval_count`?",
    ),
    "no word": (case(text=" 。"), ".text", "the text has no word"),
    "no text": (case(text=None), "", "the field `text` is missing"),
    "empty name": (case(name=" "), ".name", "the name is empty"),
    "colons in the name": (case(name="a::b"), ".name", "contains `::`"),
    "number for a case": (7, "", "expected `object`, got `int`"),
}


@pytest.mark.parametrize(
    ("raw", "place", "message"), BROKEN_CASES.values(), ids=BROKEN_CASES.keys()
)
def test_broken_cases_leave_the_others_alone(raw, place, message):
    file = load(document(case(name="good"), raw))
    good, broken = file.cases
    assert not isinstance(good, BrokenCase)
    assert isinstance(broken, BrokenCase)
    assert len(broken.faults) == 1
    assert broken.faults[0].place == f"$.test_cases[1]{place}"
    assert message in broken.faults[0].message


def test_a_taken_name_is_told():
    broken = load(document(case(), case())).cases[1]
    assert "is taken by $.test_cases[0]" in str(broken.faults[0])


def test_a_broken_file_tells_the_faults_of_its_cases_too():
    raw = document(case(text=""), case(name="b", tolerance=-1), config={"active_factor": -1})
    with pytest.raises(FixtureError) as caught:
        load(raw)
    assert len(caught.value.faults) == 3
