"""What the public strategies make, the reader accepts and the reference chain lives through."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import HealthCheck, given, settings

from pytest_soulmem.archive.chain import SqliteChain
from pytest_soulmem.archive.fixture import Scenario, load_archive_file
from pytest_soulmem.archive.scenario import run_scenario
from pytest_soulmem.archive.steps import STEP_TYPES
from pytest_soulmem.archive.strategies import archive_files, archive_stories
from pytest_soulmem.archive.subject import Subject

quick = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])


@quick
@given(archive_files())
def test_the_reader_accepts_every_file(document):
    file = load_archive_file(Path("a.json"), json.loads(json.dumps(document)))
    assert all(isinstance(case, Scenario) for case in file.cases)
    assert len(file.cases) == len(document["test_cases"])


@settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow])
@given(archive_files())
def test_the_reference_chain_lives_through_every_story(document):
    file = load_archive_file(Path("a.json"), document)
    for case in file.cases:
        assert isinstance(case, Scenario)
        outcome = run_scenario(
            case, file.cast, lambda path, clock: Subject(SqliteChain(path, clock))
        )
        # A death that did not happen, for the point was not passed, is all that can be wrong.
        assert outcome.failure is None or "was not passed" in outcome.failure.reason


def test_stories_have_every_step():
    stories = archive_stories(["flag"], ["notes"])
    seen: set[str] = set()

    @settings(max_examples=300, database=None, derandomize=True)
    @given(stories)
    def look(story):
        seen.update(step["step"] for step in story)

    look()
    assert seen == set(STEP_TYPES)
