"""Weight sets of a sweep: values, labels and faults."""

import msgspec
import pytest

from pytest_soulmem.retrieval.weights import (
    NAMES,
    BlendSweep,
    Weights,
    changed,
    expand,
    sweep_advice,
    sweep_faults,
)
from retrieval.oracle import DEFAULTS


def expanded(**sweep):
    return expand(msgspec.convert(sweep, BlendSweep), "$.blend_sweep")


def sets(**sweep):
    found, faults = expanded(**sweep)
    assert faults == []
    return found


def faults(*pairs):
    return [str(fault) for fault in expanded(pairs=pairs)[1]]


def test_names_and_defaults():
    assert msgspec.structs.asdict(Weights()) == DEFAULTS


@pytest.mark.parametrize(
    "sweep",
    [None, BlendSweep(), BlendSweep((), ()), BlendSweep(None, ()), BlendSweep((), None)],
)
def test_nothing_to_sweep_is_one_unlabelled_default_set(sweep):
    ((only,), found) = expand(sweep, "$")
    assert (only.weights, only.label, found) == (Weights(), "", [])


def test_tags_are_swept_against_variants():
    found = sets(tag_sweep=[0, 0.1, 0.3333333, 1])
    assert [(one.weights.tag, one.weights.variant) for one in found] == [
        (0, 1),
        (0.1, 0.9),
        (0.3333333, 0.666667),
        (1, 0),
    ]
    assert [one.label for one in found] == [
        "tag:0-variant:1",
        "tag:0.1-variant:0.9",
        "tag:0.333333-variant:0.666667",
        "tag:1-variant:0",
    ]
    assert {one.weights.sem_concept for one in found} == {0.5}


def test_pairs_override_what_they_name_and_labels_list_it_in_the_order_of_the_table():
    (first, second) = sets(pairs=[{"sem_concept": 0.7, "variant": 0.9}, {}])
    assert first.weights == msgspec.structs.replace(Weights(), sem_concept=0.7, variant=0.9)
    assert first.label == "tag:0.3-variant:0.9-sem_concept:0.7"
    assert (second.weights, second.label) == (Weights(), "tag:0.3-variant:0.7")
    (every,) = sets(pairs=[dict.fromkeys(reversed(NAMES), 0.5)])
    assert every.label == "-".join(f"{name}:0.5" for name in NAMES)


def test_an_override_that_names_a_default_is_shown():
    (only,) = sets(pairs=[{"tag": 0.3, "variant": 0.7, "sem_concept": 0.5}])
    assert only.label == "tag:0.3-variant:0.7-sem_concept:0.5"


def test_pairs_win_unless_they_are_empty():
    assert [one.label for one in sets(tag_sweep=[0.5], pairs=[{"tag": 1}])] == ["tag:1-variant:0.7"]
    assert [one.label for one in sets(tag_sweep=[0.5], pairs=[])] == ["tag:0.5-variant:0.5"]


def test_equal_sets_are_refused():
    (fault,) = faults({"tag": 0.5, "variant": 0.5}, {}, {"variant": 0.5, "tag": 0.5})
    assert fault == "$.blend_sweep.pairs[2]: the same weights as tag:0.5-variant:0.5"
    assert len(faults({}, {"tag": 0.3}, {"sem_tone": 1})) == 2
    (again,) = expanded(tag_sweep=[0.5, 0.1, 0.5])[1]
    assert str(again) == "$.blend_sweep.tag_sweep[2]: the same weights as tag:0.5-variant:0.5"


def test_sets_that_no_label_tells_apart_are_refused():
    assert len(expanded(tag_sweep=[0.3, 0.3 + 1e-9])[1]) == 1
    assert len(faults({"sem_concept": 0.1}, {"sem_concept": 0.1 + 1e-9})) == 1


def test_labels_are_distinct_where_sets_are():
    found = sets(pairs=[{"tag": 0.5}, {"tag": 0.5, "sem_concept": 0.1}, {"sem_concept": 0.1}])
    assert len({one.label for one in found}) == 3


def test_unknown_names_are_refused_with_the_closest():
    found = faults({"sem_concpt": 1, "tags": 1, "zzzz": 1})
    assert [text.split(": ", 1) for text in found] == [
        ["$.blend_sweep.pairs[0]", 'no weight is called "sem_concpt"; did you mean "sem_concept"?'],
        ["$.blend_sweep.pairs[0]", 'no weight is called "tags"; did you mean "tag"?'],
        ["$.blend_sweep.pairs[0]", 'no weight is called "zzzz"'],
    ]


@pytest.mark.parametrize("value", [-0.1, "0.5", None, True, float("inf"), float("nan")])
@pytest.mark.parametrize("name", NAMES)
def test_values_are_finite_numbers_from_zero(name, value):
    (fault,) = faults({name: value})
    assert fault.startswith("$.blend_sweep.pairs[0]")
    assert name in fault or "finite" in fault


def test_every_fault_of_a_pair_is_listed():
    found = faults({"sem_concpt": 1, "tag": -1}, {"variant": "x"}, {"sem_tone": 2})
    assert len(found) == 4
    assert any(text.startswith("$.blend_sweep.pairs[0].tag: ") for text in found)


@pytest.mark.parametrize("name", ["tag", "variant", "sem_concept", "sit_event_action"])
def test_weights_may_exceed_one(name):
    (only,) = sets(pairs=[{name: 2.5}])
    assert getattr(only.weights, name) == 2.5


@pytest.mark.parametrize("value", [-0.1, 1.1])
def test_swept_tags_lie_between_zero_and_one(value):
    with pytest.raises(msgspec.ValidationError, match="tag_sweep"):
        expanded(tag_sweep=[0.5, value])


def test_association_is_swept_in_its_own_mode_only():
    sets, _ = expand(BlendSweep(pairs=({"tag": 0.5}, {"association": 0.2})), "$.blend_sweep")
    assert sweep_faults(sets, "association") == []
    for mode in ("full", "embedding"):
        (fault,) = sweep_faults(sets, mode)
        assert str(fault).startswith("$.blend_sweep.pairs[1].association: blends similarity and")
        assert mode in str(fault)


def test_damping_may_be_swept_in_any_mode():
    sets, faults = expand(BlendSweep(pairs=({"damping": 0.5}, {"damping": 0.0})), "$.blend_sweep")
    assert faults == []
    assert [own.label for own in sets] == [
        "tag:0.3-variant:0.7-damping:0.5",
        "tag:0.3-variant:0.7-damping:0",
    ]
    for mode in ("full", "association", "embedding"):
        assert sweep_faults(sets, mode) == []
    _, (fault,) = expand(BlendSweep(pairs=({"damping": 1.0},)), "$.blend_sweep")
    assert fault.place == "$.blend_sweep.pairs[0].damping"


def test_damping_where_nothing_walks_is_advised_against():
    sets, _ = expand(BlendSweep(pairs=({"tag": 0.5}, {"damping": 0.5})), "$.blend_sweep")
    assert sweep_advice(sets, "full") == sweep_advice(sets, "association") == []
    (advice,) = sweep_advice(sets, "embedding")
    assert str(advice) == (
        "$.blend_sweep.pairs[1].damping: changes nothing in mode embedding, where PageRank does "
        "not run"
    )


def test_the_weights_that_differ_from_the_defaults():
    assert changed(Weights()) == {}
    assert changed(Weights(tag=0.3, damping=0.9, variant=1)) == {"variant": 1.0, "damping": 0.9}
