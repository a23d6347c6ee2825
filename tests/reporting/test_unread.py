from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from pytest_soulmem.reporting import unread

RECORD: dict[str, Any] = {
    "kind": "retrieval",
    "figures": {"rr": 1.0},
    "rankings": [{"title": "combined ranking", "retrieved": [{"id": "记忆 <b>", "score": 0.5}]}],
}


def test_rankings_are_handed_on_and_all_else_is_read() -> None:
    text = json.dumps(RECORD, ensure_ascii=False)
    record = unread.decode(text)
    assert isinstance(record["rankings"], msgspec.Raw)
    assert {name: record[name] for name in ("kind", "figures")} == {
        name: RECORD[name] for name in ("kind", "figures")
    }
    assert json.loads(msgspec.json.encode(record)) == RECORD
    assert unread.read(record) == unread.read(RECORD) == RECORD


@pytest.mark.parametrize("nothing", [None, []])
def test_a_record_without_rankings_says_so(nothing: object) -> None:
    assert unread.decode(json.dumps({"rankings": nothing})) == {"rankings": nothing}
    assert unread.decode("{}") == {}


@pytest.mark.parametrize("text", ["", "[]", '{"rankings": [}', '{"rankings": NaN}'])
def test_what_is_no_record_is_refused(text: str) -> None:
    with pytest.raises(msgspec.DecodeError):
        unread.decode(text)


def test_what_json_cannot_hold_is_no_plain_data() -> None:
    with pytest.raises(TypeError):
        unread.read({"a": object()})
