"""Records as lines."""

import pytest

from pytest_soulmem.cli.facts import facts


@pytest.mark.parametrize(
    ("record", "lines"),
    [
        ({}, []),
        ({"a": None, "b": "", "c": {}, "d": [], "e": {"f": None}}, []),
        ({"a": 0, "b": False, "c": 0.5}, ["a: 0", "b: false", "c: 0.5"]),
        ({"a": {"b": 1, "c": "茶", "d": None}}, ["a: b 1, c 茶"]),
        ({"a": {"b": 1, "c": {"d": 2}, "e": 3}}, ["a: b 1, e 3", "a.c: d 2"]),
        ({"a": ["x", 2.0]}, ["a: x, 2"]),
        ({"a": [[1, 2], {"b": True}]}, ["a[0]: 1, 2", "a[1]: b true"]),
    ],
)
def test_one_line_for_each_fact(record, lines):
    assert list(facts(record)) == lines
