"""Every faulty chain fails a fixture and breaks a law; the reference does neither."""

from __future__ import annotations

import archive_mutants as mutants
import pytest
from archive_helpers import FILES, failing, load, opener
from hypothesis import Phase, settings

from pytest_soulmem.archive.chain import SqliteChain
from pytest_soulmem.archive.fixture import LAW_NAMES
from pytest_soulmem.archive.machine import Domain, try_laws
from pytest_soulmem.users_code import Misbehaviour

OLD = {
    mutants.ReleasesThoughNothingWritten: (
        "缺陷一：三元组全被拒时不释放引用、不删文档",
        "gone-only-if-written",
    ),
    mutants.AsksOnlyTheExtractor: (
        "缺陷二：媒体凭标记入图，不靠提取器运气",
        "marked-media-recalled",
    ),
    mutants.RecallsNothing: ("缺陷三：两个入口都能召回媒体", "marked-media-recalled"),
}
"""The old behaviours of the user's document: the scenario and the law that catch each."""

OTHERS = {
    mutants.RecallsOnlyWhenAsked: ("defects", "marked-media-recalled"),
    mutants.RecallsOnlyByItself: ("defects", "marked-media-recalled"),
    mutants.ReleasesEverything: ("defects", "archived-media-kept"),
    mutants.NamesByDescription: ("descriptions", "names-stay"),
    mutants.CollectsReferenced: ("collecting", "referenced-stays"),
    mutants.CountsPuts: ("collecting", "counts-equal-references"),
    mutants.RecoveryDropsReferences: ("crashes", "recovery-idempotent"),
    mutants.RecoveryGrows: ("crashes", "recovery-idempotent"),
    mutants.CommitsTwice: ("crashes", "crash-all-or-nothing"),
    mutants.DeletesFirst: ("crashes", "gone-only-if-written"),
}


def broken(chain, name, laws, examples=600):
    """The laws of these that a chain breaks, searched for the same way every time.

    Nothing is shrunk: that takes longer than finding it, and is not what is asked here.
    """
    profile = settings(
        max_examples=examples, database=None, derandomize=True, phases=[Phase.generate]
    )
    before = settings.get_current_profile_name()
    settings.register_profile("mutants", profile)
    settings.load_profile("mutants")
    try:
        return try_laws(Domain(opener(chain), load(name).cast), laws, chain.__name__).failures
    finally:
        settings.load_profile(before)


@pytest.mark.parametrize("chain", OLD)
def test_an_old_behaviour_fails_its_scenario(chain):
    assert OLD[chain][0] in failing("defects", chain)


@pytest.mark.parametrize("chain", OLD)
def test_an_old_behaviour_breaks_its_law(chain):
    law = OLD[chain][1]
    assert list(broken(chain, "defects", [law])) == [law]


@pytest.mark.parametrize("chain", OTHERS)
def test_another_fault_fails_a_scenario(chain):
    assert failing(OTHERS[chain][0], chain)


@pytest.mark.parametrize("chain", OTHERS)
def test_another_fault_breaks_its_law(chain):
    name, law = OTHERS[chain]
    assert list(broken(chain, name, [law])) == [law]


@pytest.mark.parametrize("name", FILES)
def test_the_reference_fails_nothing(name):
    assert failing(name, SqliteChain) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_the_reference_breaks_no_law(name):
    assert broken(SqliteChain, name, LAW_NAMES) == {}


def test_recalling_everything_fails_the_negative_control():
    assert "阴性对照：从未存入的不被召回" in failing("defects", mutants.RecallsEverything)


def test_counting_bytes_fails_the_scenario_of_names():
    assert "实体名两到五十个字符" in failing("descriptions", mutants.CountsBytes)


def test_a_row_without_its_file_is_found():
    found = failing("crashes", mutants.RowBeforeFile)
    assert "存入：有文件没有行时崩溃，恢复清掉孤儿文件" in found
    with pytest.raises(Misbehaviour, match="DamagedMedia"):
        broken(mutants.RowBeforeFile, "crashes", LAW_NAMES)


def test_tidying_up_in_the_face_of_death_changes_nothing():
    """What a chain does after the point of the crash is not on the disk of the next process."""
    assert failing("crashes", mutants.SwallowsCrashes) == []
