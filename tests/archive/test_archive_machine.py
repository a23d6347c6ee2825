"""The state machine: what it finds, how it is shown, and how much it does."""

from __future__ import annotations

import archive_mutants as mutants
import pytest
from archive_helpers import load, opener
from hypothesis import Phase, settings

from pytest_soulmem.archive import machine
from pytest_soulmem.archive.chain import SqliteChain
from pytest_soulmem.archive.fixture import LAW_NAMES
from pytest_soulmem.archive.laws import LAWS
from pytest_soulmem.archive.steps import Archive, CrashAt, Gc, Put, Transfer
from pytest_soulmem.users_code import Misbehaviour


@pytest.fixture
def profile():
    """Load hypothesis settings for one test."""
    before = settings.get_current_profile_name()

    def load_profile(**changes):
        settings.register_profile("machine", database=None, derandomize=True, **changes)
        settings.load_profile("machine")

    yield load_profile
    settings.load_profile(before)


def tried(chain, laws, name="defects"):
    return machine.try_laws(machine.Domain(opener(chain), load(name).cast), laws, "key")


def test_every_law_has_a_name_for_files():
    assert tuple(LAWS) == LAW_NAMES


def test_the_counterexample_is_the_shortest_story(profile):
    profile()
    failure = tried(mutants.RecoveryGrows, ["recovery-idempotent"]).failures["recovery-idempotent"]
    assert failure.text.splitlines() == [
        "law recovery-idempotent is broken: recovering a second time changed something",
        "the law: recovery removes orphaned files only, and doing it twice is doing it once",
        "chain archive_mutants.RecoveryGrows",
        "",
        "simplest counterexample found:",
        '  {"step": "recover"}',
        "",
        '(to spare this file the law: "laws": {"recovery-idempotent": false})',
    ]


@pytest.mark.slow
def test_an_old_behaviour_is_shown_in_the_words_of_a_fixture(profile):
    profile()
    law = "gone-only-if-written"
    failure = tried(mutants.ReleasesThoughNothingWritten, [law]).failures[law]
    assert failure.text.splitlines()[5:7] == [
        '  {"step": "transfer", "context": "chat", "document": "unusable"}',
        '  {"step": "archive", "document": "unusable"}',
    ]


def test_a_broken_law_does_not_hide_another(profile):
    class Both(mutants.RecoveryGrows, mutants.RecallsNothing):
        pass

    profile(phases=[Phase.generate])
    found = tried(Both, ["marked-media-recalled", "recovery-idempotent"])
    assert set(found.failures) == {"marked-media-recalled", "recovery-idempotent"}


def test_the_profile_says_how_much_is_tried(profile, monkeypatch):
    made = []
    host = machine.Search.host
    monkeypatch.setattr(machine.Search, "host", lambda self: made.append(1) or host(self))
    profile(max_examples=15, phases=[Phase.generate])
    tried(SqliteChain, ["names-stay"])
    assert 1 <= len(made) <= 15 // machine.SHARE


def test_errors_say_after_which_steps_they_came(profile):
    class Fails(SqliteChain):
        def gc(self, *arguments):
            raise RuntimeError("disk on fire")

    profile()
    with pytest.raises(Misbehaviour, match="disk on fire") as caught:
        tried(Fails, LAW_NAMES)
    assert 'after these steps:\n{"step": "gc"' in caught.value.details


def test_a_chain_that_cannot_die_is_held_to_the_other_laws(profile):
    class Immortal(mutants.RecallsNothing):
        crash_points = frozenset()

    profile(phases=[Phase.generate])
    found = tried(Immortal, LAW_NAMES)
    assert set(found.failures) == {"marked-media-recalled"}
    assert found.lacking("crash-all-or-nothing").endswith("Immortal has no crash points")
    assert not found.lacking("names-stay")


def test_no_folder_is_left_behind(profile, tmp_path, monkeypatch):
    monkeypatch.setattr("pytest_soulmem.archive.scenario._MEMORY", tmp_path)
    profile(max_examples=5, phases=[Phase.generate])
    tried(SqliteChain, ["names-stay"])
    assert list(tmp_path.iterdir()) == []


def test_steps_and_deaths_that_a_story_does_not_need_are_left_out(tmp_path):
    law = "archived-media-kept"
    put = Put(step="put", media="cat", context="chat")
    transfer = Transfer(step="transfer", context="chat", document="marked")
    archive = Archive(step="archive", document="marked")
    crash = CrashAt(step="crash_at", point="transfer.committed", during=transfer)
    story = [put, Gc(step="gc"), crash, Gc(step="gc"), archive]
    domain = machine.Domain(opener(mutants.ReleasesEverything), load("defects").cast)
    search = machine.Search(domain, [law], tmp_path, machine.Findings())
    found = machine._trimmed(search, machine.BrokenLaw(law, "seen", story))
    assert found.steps == (put, transfer, archive)
    assert list(tmp_path.iterdir()) == []
