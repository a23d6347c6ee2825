"""What helps to write archive files agrees with what reads them."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from archive_helpers import FILES, FIXTURES, document

from pytest_soulmem.archive.authoring import advice, example, faults, schema


def valid(raw):
    return jsonschema.Draft202012Validator(schema()).is_valid(raw)


@pytest.mark.parametrize("name", FILES)
def test_our_fixtures_have_no_fault_and_fit_the_schema(name):
    path = FIXTURES / f"{name}.json"
    raw = json.loads(path.read_text(encoding="utf-8"))
    assert faults(path, raw) == []
    assert advice(path, raw) == []
    assert valid(raw)


def test_the_example_has_no_fault_and_fits_the_schema():
    ((path, raw),) = example(Path("archive/new.json")).items()
    assert raw["name"] == "new"
    assert faults(path, raw) == []
    assert valid(raw)


@pytest.mark.parametrize(
    "step",
    [
        {"step": "achive", "document": "notes"},
        {"step": "put"},
        {"step": "crash_at", "point": "archive.bound", "during": {"step": "nothing"}},
        {"step": "recover", "expect": {"document": "deleted"}},
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(step):
    raw = document(step)
    assert faults(Path("x.json"), raw)
    assert not valid(raw)


def test_the_schema_is_a_schema_and_knows_every_step():
    jsonschema.Draft202012Validator.check_schema(schema())
    assert {"Put", "CrashAt", "Archive", "Expect"} <= schema()["$defs"].keys()
