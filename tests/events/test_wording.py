from events.samples import finish, message, text
from pytest_soulmem.events import Step
from pytest_soulmem.events.reducer import gather
from pytest_soulmem.events.stream import read_stream
from pytest_soulmem.events.wording import basis, counted, event_rows, json_lines, shown


def test_values_are_put_into_words():
    assert shown(None) == "none"
    assert shown("") == '""'
    assert shown({}) == "{}"
    assert shown({"outputTokens": 2, "inputTokens": 0}) == "inputTokens 0, outputTokens 2"


def test_things_are_counted():
    assert [counted(number, "event") for number in (0, 1, 2)] == ["no event", "1 event", "2 events"]


def test_what_there_is_of_a_step_fits_a_line():
    seen = gather(read_stream([text("甲"), finish("length"), finish("stop")]), Step(1, 1))
    assert basis(seen) == "1 text chunk, finish length and stop, no receipt, no error"


def test_runs_of_chunks_are_one_row_and_other_steps_none():
    stream = [text("夜"), text("x", (1, 2)), text("色"), {"type": "tool/call"}, message("夜色")]
    assert list(event_rows(read_stream(stream), Step(1, 1))) == [
        ("0–2", "text ×2", "夜色"),
        ("3", "unknown", "tool/call (changes nothing)"),
        ("4", "receipt", "夜色 (synthetic/fixture-model; usage unknown)"),
    ]


def test_events_are_shown_as_their_file_holds_them():
    assert json_lines([{"type": "旧"}]) == ['{"type": "旧"}']
