"""The event file: the user's document, and what is wrong with broken ones."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import pytest

from events.samples import DOCUMENT, EDGES, error, file, finish, message, read, scenario, text
from pytest_soulmem.cases import BrokenCase
from pytest_soulmem.events import Step, reduce_events
from pytest_soulmem.events.fixture import load_event_file, recognises
from pytest_soulmem.faults import FixtureError

PATH = Path("events/x.json")


@pytest.mark.parametrize("path", [DOCUMENT, EDGES], ids=lambda path: path.name)
def test_the_reference_reducer_meets_our_files(path):
    loaded = load_event_file(path, read(path))
    assert len(loaded.usable) == len(loaded.scenarios)
    for own in loaded.usable:
        for step, expected in own.judged:
            found = reduce_events(own.raw_events, *step)
            assert {name: getattr(found, name) for name in expected.given} == expected.given


def test_the_document_is_kept_as_it_is():
    document = read(DOCUMENT)
    assert [own["scenario_id"] for own in document["scenarios"]] == [
        "model-normal-completion",
        "model-truncated-by-length",
        "model-stream-close-without-finish",
        "model-midstream-error",
        "model-unknown-usage",
        "model-finish-after-message",
    ]
    assert len(DOCUMENT.read_text(encoding="utf-8").splitlines()) == 306
    assert document["语义"].startswith("terminal_state 取")


def edited(change):
    """A good scenario, changed."""
    own = scenario(text("好"), finish("stop"), message("好", usage={"inputTokens": 1}), error("x"))
    own["expected"] = {"terminal_state": "failed"}
    change(own)
    return own


def chunk(own, at=0):
    return own["events"][at]["data"]["chunk"]


BROKEN = [
    ("no id", lambda s: s.pop("scenario_id"), "$.scenarios[1]", "`scenario_id` is missing"),
    ("id is no text", lambda s: s.update(scenario_id=7), ".scenario_id", "expected `str`"),
    ("empty id", lambda s: s.update(scenario_id=" "), ".scenario_id", "the name is empty"),
    ("id with ::", lambda s: s.update(scenario_id="a::b"), ".scenario_id", "`::`"),
    ("id taken", lambda s: s.update(scenario_id="good"), ".scenario_id", "taken by $.scenarios[0]"),
    ("no events", lambda s: s.pop("events"), "$.scenarios[1]", "`events` is missing"),
    ("events misspelt", lambda s: s.update(event=s.pop("events")), "[1]", "did you mean `events`?"),
    ("no expected", lambda s: s.pop("expected"), "$.scenarios[1]", "`expected` is missing"),
    (
        "event is no object",
        lambda s: s["events"].insert(1, "stop"),
        ".events[1]",
        "expected `object`",
    ),
    ("no type", lambda s: s["events"][0].pop("type"), ".events[0]", "`type` is missing"),
    (
        "type misspelt",
        lambda s: s["events"][2].update(type="asistant/message"),
        ".events[2].type",
        'did you mean "assistant/message"?',
    ),
    (
        "chunk type misspelt",
        lambda s: chunk(s, 1).update(type="finsh"),
        ".events[1].data.chunk.type",
        'did you mean "finish"?',
    ),
    ("no data", lambda s: s["events"][0].pop("data"), ".events[0]", "`data` is missing"),
    (
        "no turn",
        lambda s: s["events"][0]["data"].pop("turn"),
        ".events[0].data",
        "`turn` is missing",
    ),
    ("negative step", lambda s: s["events"][0]["data"].update(step=-1), ".data.step", "`int` >= 0"),
    (
        "step is true",
        lambda s: s["events"][0]["data"].update(step=True),
        ".data.step",
        "got `bool`",
    ),
    ("text is a number", lambda s: chunk(s).update(text=3), ".data.chunk.text", "expected `str`"),
    ("no reason", lambda s: chunk(s, 1).pop("reason"), "[1].data.chunk", "`reason` is missing"),
    ("reason is text", lambda s: chunk(s, 1).update(reason="stop"), ".chunk.reason", "got `str`"),
    (
        "no source",
        lambda s: s["events"][2]["data"]["message"].pop("source"),
        ".events[2].data.message",
        "`source` is missing",
    ),
    (
        "content is text",
        lambda s: s["events"][2]["data"]["message"].update(content="好"),
        ".data.message.content",
        "expected `array`",
    ),
    (
        "part without text",
        lambda s: s["events"][2]["data"]["message"]["content"][0].pop("text"),
        ".data.message.content[0]",
        "`text` is missing",
    ),
    (
        "negative usage",
        lambda s: s["events"][2]["data"].update(usage={"inputTokens": -1}),
        ".events[2].data.usage",
        ">= 0",
    ),
    (
        "no code",
        lambda s: s["events"][3]["data"]["error"].pop("code"),
        ".events[3].data.error",
        "`code` is missing",
    ),
    (
        "no such state",
        lambda s: s["expected"].update(terminal_state="finished"),
        ".expected.terminal_state",
        "'finished'",
    ),
    (
        "field misspelt",
        lambda s: s["expected"].update(usage_stat="known"),
        ".expected",
        "did you mean `usage_state`?",
    ),
    ("nothing expected", lambda s: s["expected"].clear(), ".expected", "nothing is expected"),
    (
        "code contradicts state",
        lambda s: s.update(expected={"terminal_state": "completed", "error_code": "x"}),
        ".expected.error_code",
        '"x" contradicts "completed"',
    ),
    (
        "finish contradicts state",
        lambda s: s["expected"].update(terminal_state="truncated", finish_reason="stop"),
        ".expected.finish_reason",
        '"stop" contradicts "truncated"',
    ),
    (
        "usage contradicts its state",
        lambda s: s["expected"].update(usage_state="unknown", usage={"inputTokens": 1}),
        ".expected.usage",
        'an object contradicts "unknown"',
    ),
    (
        "completed without a text",
        lambda s: s.update(expected={"terminal_state": "completed", "final_text": None}),
        ".expected.final_text",
        "needs a receipt",
    ),
    (
        "step that has no event",
        lambda s: s.update(expected_steps=[{"turn": 1, "step": 2, "usage_state": "known"}]),
        ".expected_steps[0]",
        "no event belongs to turn 1, step 2 (turn 1, step 1)",
    ),
    (
        "step judged twice",
        lambda s: s.update(expected_steps=[{"turn": 1, "step": 1, "usage_state": "known"}] * 2),
        ".expected_steps[1]",
        "judged already by $.scenarios[1].expected_steps[0]",
    ),
]


@pytest.mark.parametrize(
    ("change", "place", "message_part"),
    [case[1:] for case in BROKEN],
    ids=[case[0] for case in BROKEN],
)
def test_a_broken_scenario_is_told_with_its_place_and_the_others_run(change, place, message_part):
    document = file(scenario(name="good"), deepcopy(edited(change)))
    loaded = load_event_file(PATH, document)
    assert [own.name for own in loaded.usable] == ["good"]
    broken = loaded.scenarios[1]
    assert isinstance(broken, BrokenCase)
    told = [fault for fault in broken.faults if message_part in fault.message]
    assert told, broken.faults
    assert place in told[0].place


BROKEN_FILES = [
    (
        {"schema_version": "muse-fixture-model-events-v2"},
        "$.schema_version",
        'known is "muse-fixture',
    ),
    ({"schema_version": 1}, "$.schema_version", "cannot be read here"),
    ({"scenarios": []}, "$.scenarios", "length >= 1"),
    ({"scenarios": {}}, "$.scenarios", "expected `array`"),
    ({"laws": {"chunkin": False}}, "$.laws", 'did you mean "chunking"?'),
    ({"laws": {"chunking": True}}, "$.laws.chunking", "expected false"),
    ({"laws": ["chunking"]}, "$.laws", "expected `object`"),
]


@pytest.mark.parametrize(("fields", "place", "message_part"), BROKEN_FILES)
def test_a_broken_file_cannot_be_used(fields, place, message_part):
    with pytest.raises(FixtureError) as caught:
        load_event_file(PATH, {**file(scenario()), **fields})
    (fault,) = caught.value.faults
    assert fault.place == place
    assert message_part in fault.message


def test_all_faults_are_told_together():
    document = file(edited(lambda s: s.pop("expected")), edited(lambda s: s.pop("events")))
    document.pop("schema_version")
    with pytest.raises(FixtureError) as caught:
        load_event_file(PATH, document)
    places = [fault.place for fault in caught.value.faults]
    assert places == ["$", "$.scenarios[0]", "$.scenarios[1]", "$.scenarios[1].scenario_id"]


@pytest.mark.parametrize(
    ("document", "ours"),
    [
        (file(), True),
        ({"schema_version": "muse-fixture-model-events-v2"}, True),
        ({"scenarios": [scenario()]}, True),
        ({"schema_version": "muse-fixture-model-event-v1", "scenarios": [scenario()]}, True),
        ({"schema_version": "1.0", "events": []}, False),
        ({"scenarios": ["login"]}, False),
        ({"scenarios": [{"scenario_id": "x", "steps": []}]}, False),
        ([scenario()], False),
        (None, False),
    ],
)
def test_which_documents_are_ours(document, ours):
    assert recognises(document) is ours


def test_expected_is_about_the_last_step_whatever_comes_last():
    own = scenario(text("乙", (2, 1)), text("甲", (1, 2)), text("丙", (10, 1)), text("丁", (9, 9)))
    (loaded,) = load_event_file(PATH, file(own)).usable
    assert loaded.last == Step(10, 1)


def test_a_stream_without_a_step_is_judged_as_an_empty_one():
    (loaded,) = load_event_file(PATH, file(scenario({"type": "provider/heartbeat"}))).usable
    assert loaded.last == Step(1, 1)


def test_remarks_and_notes_are_ignored():
    own = scenario(
        text("甲"), 说明="remark", expected={"usage_state": "unknown", "notes": "不填 0"}
    )
    assert load_event_file(PATH, file(own, 来源="合成样例")).usable


def test_null_is_expected_and_absent_is_not():
    own = scenario(text("甲"), expected={"finish_reason": None})
    (loaded,) = load_event_file(PATH, file(own)).usable
    assert loaded.expected.given == {"finish_reason": None}
