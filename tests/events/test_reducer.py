import pytest

from events.samples import error, finish, message, text
from pytest_soulmem.events import reduce_events


def outcome(*events, at=(1, 1)):
    return reduce_events(list(events), *at)


@pytest.mark.parametrize(
    ("events", "state"),
    [
        ((), "no_completion_basis"),
        ((text("半句"), text("话")), "no_completion_basis"),
        ((text("好。"), finish("stop")), "no_completion_basis"),
        ((text("好。"), message("好。")), "no_completion_basis"),
        ((finish("tool_calls"), message("")), "no_completion_basis"),
        ((finish("stop"), message("好。")), "completed"),
        ((message("好。"), finish("stop")), "completed"),
        ((message("好。"), text("好。"), finish("stop"), finish("stop")), "completed"),
        ((finish("length"),), "truncated"),
        ((finish("length"), message("好")), "truncated"),
        ((message("好"), finish("length")), "truncated"),
        ((error("timeout"),), "failed"),
        ((finish("stop"), message("好。"), error("timeout")), "failed"),
        ((finish("stop"), finish("length")), "failed"),
        ((finish("stop"), message("甲"), message("乙")), "failed"),
    ],
)
def test_the_state(events, state):
    assert outcome(*events).terminal_state == state


@pytest.mark.parametrize(
    ("events", "code"),
    [
        ((error("first"), error("second")), "first"),
        ((finish("stop"), finish("length"), error("timeout")), "timeout"),
        ((finish("stop"), finish("length"), message("甲"), message("乙")), "contradictory_finish"),
        ((message("甲"), message("乙")), "contradictory_message"),
        ((finish("stop"), message("甲"), message("甲")), None),
        ((finish("length"),), None),
    ],
)
def test_why_a_step_failed(events, code):
    assert outcome(*events).error_code == code


def test_contradicting_finishes_give_no_reason():
    assert outcome(finish("stop"), finish("length")).finish_reason is None
    assert outcome(finish("stop"), finish("stop")).finish_reason == "stop"


def test_messages_of_two_models_contradict_each_other():
    other = message("甲")
    other["data"]["message"]["source"]["model"] = "another"
    found = outcome(message("甲"), other)
    assert (found.error_code, found.final_text) == ("contradictory_message", "甲")


@pytest.mark.parametrize(
    ("usages", "known"),
    [
        ([], None),
        ([None], None),
        ([{}], None),
        ([{"inputTokens": None}], None),
        ([{"inputTokens": 0}], {"inputTokens": 0}),
        ([{"outputTokens": 2, "inputTokens": None}], {"outputTokens": 2}),
        ([{"inputTokens": 1}, None, {"outputTokens": 2}], {"inputTokens": 1, "outputTokens": 2}),
        ([{"inputTokens": 1, "outputTokens": 2}, {"outputTokens": 3}], {"inputTokens": 1}),
        ([{"outputTokens": 2}, {"outputTokens": 3}], {}),
    ],
)
def test_usage_is_what_messages_say(usages, known):
    found = outcome(*(message("甲", usage=usage) for usage in usages))
    assert found.usage == known
    assert found.usage_state == ("unknown" if known is None else "known")


def test_usage_is_known_whatever_the_state():
    found = outcome(message("甲", usage={"inputTokens": 1}), error("timeout"))
    assert (found.terminal_state, found.usage_state) == ("failed", "known")


def test_the_text_of_chunks_is_kept_beside_the_receipt():
    found = outcome(text("夜色渐"), text("浅。"), finish("stop"), message("夜色渐深。"))
    assert (found.final_text, found.partial_text) == ("夜色渐深。", "夜色渐浅。")


def test_parts_of_a_message_are_put_together_and_only_text_counts():
    whole = message("夜色")
    whole["data"]["message"]["content"] += [
        {"type": "image", "url": "x"},
        {"type": "text", "text": "渐深。"},
    ]
    assert outcome(whole).final_text == "夜色渐深。"


def test_steps_and_turns_are_kept_apart():
    events = [finish("stop", (1, 1)), message("甲", (1, 2)), message("乙", (2, 1))]
    for at in ((1, 1), (1, 2), (2, 1), (9, 9)):
        assert outcome(*events, at=at).terminal_state == "no_completion_basis"


def test_unknown_events_change_nothing():
    unknown = [{"type": "provider/heartbeat"}, {"type": "tool/error", "data": {"turn": 1}}]
    events = [finish("stop"), message("甲")]
    assert outcome(*unknown, *events) == outcome(*events)


def test_a_malformed_event_is_told_with_its_place():
    with pytest.raises(ValueError, match=r"events\[1\]\.data\.chunk.*`text` is missing"):
        outcome(
            text("好"),
            {"type": "assistant/chunk", "data": {**text("")["data"], "chunk": {"type": "text"}}},
        )
