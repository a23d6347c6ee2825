from __future__ import annotations

import pytest

from pytest_soulmem.reporting.tracebacks import one_line, users_traceback
from pytest_soulmem.users_code import ask_method


class Trap:
    """Raises when code of ours touches it."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def spring(self):
        raise self.error


def caught(call) -> BaseException:
    try:
        call()
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


def through_ours(error: BaseException) -> BaseException:
    """The error, raised by a user's code that ours called."""
    from pytest_soulmem.naming import name_faults

    class Taken(dict):
        def __contains__(self, name: object) -> bool:
            Trap(error).spring()
            return False

    return caught(lambda: name_faults("name", Taken()))


def test_nothing_to_tell() -> None:
    assert users_traceback(None) == ""
    assert users_traceback(ValueError("never raised")) == ""


def test_an_error_of_ours_is_not_the_users() -> None:
    assert users_traceback(caught(lambda: ask_method("m", "c", lambda: 1 / 0))) == ""


def test_only_the_users_frames_are_told() -> None:
    text = users_traceback(through_ours(ValueError("no\x1b good")))
    assert text.startswith(f'  File "{__file__}", line ')
    assert "in __contains__" in text
    assert "in spring" in text
    assert "in through_ours" not in text
    assert "naming.py" not in text
    assert text.endswith("ValueError: no\\x1b good")


def test_what_caused_an_error_is_told() -> None:
    def fail():
        try:
            {}["key"]
        except KeyError as error:
            raise RuntimeError("outer") from error

    text = users_traceback(caught(fail))
    assert (
        text.index("KeyError: 'key'")
        < text.index("direct cause")
        < text.index("RuntimeError: outer")
    )


def test_what_was_hidden_stays_hidden() -> None:
    def fail():
        try:
            {}["key"]
        except KeyError:
            raise RuntimeError("outer") from None

    assert "KeyError" not in users_traceback(caught(fail))


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("first\nsecond"), "ValueError: first"),
        (ValueError(), "ValueError"),
        (ValueError("\n"), "ValueError"),
        (KeyError("k"), "KeyError: 'k'"),
        (ValueError("\x1b\u202e"), "ValueError: \\x1b\\u202e"),
    ],
)
def test_one_line(error: Exception, line: str) -> None:
    assert one_line(error) == line
