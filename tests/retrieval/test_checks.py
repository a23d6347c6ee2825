"""What each check demands."""

import pytest

from pytest_soulmem.retrieval.checks import violations
from retrieval.builders import case_of, ranking, retrieval

CHECKS = ["hit", "recall", "order", "exact", "none"]


def found(case, answer, check, mode="embedding"):
    return [str(violation) for violation in violations(case, answer, mode, check)]


def failing(case, answer, mode="embedding"):
    """The checks that an answer breaks."""
    return [check for check in CHECKS if found(case, answer, check, mode)]


@pytest.mark.parametrize(
    ("must", "came", "broken"),
    [
        (["a"], ["a"], []),
        (["a"], ["x", "a"], ["exact"]),
        (["a", "b"], ["a", "b", "x"], []),
        (["a", "b"], ["a", "x", "b"], ["exact"]),
        (["a", "b"], ["b", "a"], ["order", "exact"]),
        (["a", "b"], ["a", "x"], ["recall", "order", "exact"]),
        (["a", "b"], ["b"], ["recall", "order", "exact"]),
        (["a", "b"], ["x", "y"], ["hit", "recall", "order", "exact"]),
        (["a"], [], ["hit", "recall", "order", "exact"]),
        (["a", "b", "c"], ["c", "b", "a"], ["order", "exact"]),
    ],
)
def test_each_check_is_stronger_than_the_one_before(must, came, broken):
    assert failing(case_of(must), retrieval(*came)) == broken


def test_bonus_ids_pass_every_check_but_exact():
    case = case_of(["a", "b"], ["x"])
    assert failing(case, retrieval("x", "a", "b")) == ["exact"]
    assert failing(case, retrieval("a", "b", "x")) == []
    assert failing(case, retrieval("x")) == ["hit", "recall", "order", "exact"]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("came", [[], ["x"]])
def test_a_negative_case_never_fails(check, came):
    expectations = [{"q": 0, "ranking": ["a"]}]
    case = case_of([], ["x"], expected_per_query=expectations, expected_actions=["act"])
    answer = retrieval(*came, per_query=[[], []], actions=[])
    assert found(case, answer, check, mode="full") == []


# --- order --------------------------------------------------------------------------------------


def order_of(earlier, later):
    """What `order` says of a before b with these keys."""
    scores = {"a": earlier, "b": later}
    ids = sorted(scores, key=lambda name: -scores[name])
    answer = retrieval(*ids, scores=[scores[name] for name in ids])
    return found(case_of(["a", "b"]), answer, "order")


@pytest.mark.parametrize("steps", [0, 1, 2, 4, 32, 33, 500_000, 999_998])
def test_one_step_of_rounding_is_no_disorder(steps):
    """Keys have six decimals: noise may separate a tie by exactly one step."""
    assert order_of(steps / 10**6, (steps + 1) / 10**6) == []
    assert len(order_of(steps / 10**6, (steps + 2) / 10**6)) == 1


def test_equal_keys_are_in_order_either_way():
    answer = retrieval("b", "a", scores=[0.5, 0.5])
    assert failing(case_of(["a", "b"]), answer) == ["exact"]
    assert failing(case_of(["b", "a"]), answer) == []


def test_order_is_by_key_where_there_is_one():
    answer = retrieval("a", "b", scores=[0.1, 0.9], keys=[0.9, 0.1])
    assert found(case_of(["a", "b"]), answer, "order") == []
    assert found(case_of(["b", "a"]), answer, "order") == [
        'combined ranking: "b" (0.100000) is expected before "a" (0.900000)'
    ]


def test_every_disordered_pair_is_told_and_what_is_missing():
    messages = found(case_of(["a", "b", "c", "d"]), retrieval("c", "b", "a"), "order")
    assert messages[0] == 'combined ranking: "d" did not come back'
    assert len(messages) == 4


# --- messages -----------------------------------------------------------------------------------


def test_messages():
    case = case_of(["a", "b"])
    answer = retrieval("x")
    assert found(case, answer, "hit") == [
        'combined ranking: none of the expected ids came back ("a", "b")'
    ]
    assert found(case, answer, "recall") == ['combined ranking: "a", "b" did not come back']
    assert found(case, answer, "exact") == [
        'combined ranking: rank 1 is "x", expected "a"',
        'combined ranking: rank 2 is nothing, expected "b"',
    ]


# --- sub-queries --------------------------------------------------------------------------------


def test_each_sub_query_is_judged_by_its_own_ranking():
    expectations = [{"q": 1, "ranking": ["a", "b"]}, {"q": 0, "ranking": ["c"]}]
    case = case_of(["a"], expected_per_query=expectations)
    good = retrieval("a", per_query=[ranking("c"), ranking("a", "b")])
    assert failing(case, good) == []
    bad = retrieval("a", per_query=[ranking("c"), ranking("b", "a")])
    assert failing(case, bad) == ["order", "exact"]
    (message,) = found(case, bad, "order")
    assert message.startswith('sub-query 1: "a" (0.5')
    swapped = retrieval("a", per_query=[ranking("a", "b"), ranking("c")])
    assert len(found(case, swapped, "hit")) == 2


def test_an_empty_expectation_demands_nothing():
    case = case_of(["a"], expected_per_query=[{"q": 0, "ranking": [], "bonus_ranking": ["b"]}])
    assert failing(case, retrieval("a", per_query=[[], []])) == []


def test_rankings_that_a_system_does_not_give_are_not_judged():
    case = case_of(["a"], expected_per_query=[{"q": 0, "ranking": ["z"]}])
    assert failing(case, retrieval("a")) == []


# --- actions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("actions", "mode", "broken"),
    [
        (["act"], "full", []),
        (["x", "deed"], "full", []),
        (["x"], "full", ["recall", "order", "exact"]),
        ([], "full", ["recall", "order", "exact"]),
        ([], "embedding", []),
        ([], "association", []),
        (None, "full", []),
    ],
)
def test_one_expected_action_is_demanded_in_full_by_recall_and_stronger(actions, mode, broken):
    case = case_of(["a"], expected_actions=["act", "deed"])
    answer = retrieval("a", actions=None if actions is None else ranking(*actions))
    assert failing(case, answer, mode) == broken


def test_the_missing_action_is_told():
    case = case_of(["a"], expected_actions=["act"])
    assert found(case, retrieval("a", actions=[]), "recall", "full") == [
        'actions: none of the expected actions came back ("act")'
    ]
    assert failing(case_of(["a"]), retrieval("a", actions=[]), "full") == []
