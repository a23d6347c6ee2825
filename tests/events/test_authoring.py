from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings

from events.samples import DOCUMENT, EDGES, file, finish, message, read, scenario, text
from pytest_soulmem.events import authoring
from pytest_soulmem.events.strategies import event_files

PATH = Path("events/mine.json")
VALIDATOR = jsonschema.Draft202012Validator(authoring.schema())


def test_the_example_has_no_faults():
    (document,) = authoring.example(PATH).values()
    assert not authoring.faults(PATH, document)
    VALIDATOR.validate(document)


@pytest.mark.parametrize("path", [DOCUMENT, EDGES], ids=lambda path: path.name)
def test_our_files_meet_the_schema(path):
    VALIDATOR.validate(read(path))


@settings(deadline=None, max_examples=30)
@given(event_files())
def test_generated_files_meet_the_schema(document):
    VALIDATOR.validate(document)


@pytest.mark.parametrize("event", [text("甲"), finish("stop"), message("甲")])
def test_the_schema_knows_the_shape_of_known_events(event):
    part = "message" if "message" in event["data"] else "chunk"
    event["data"][part] = {"type": event["data"][part].get("type")}
    assert not VALIDATOR.is_valid(file(scenario(event)))


def test_faults_are_told_without_a_run():
    broken = file(scenario(text("甲"), expected={}))
    assert [fault.place for fault in authoring.faults(PATH, broken)] == ["$.scenarios[0].expected"]
    assert [fault.place for fault in authoring.faults(PATH, {})] == ["$", "$"]
