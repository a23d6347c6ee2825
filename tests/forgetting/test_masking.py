"""Masks must be the same on every machine: fixed strings, and what holds for every text."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from pytest_soulmem import strategies
from pytest_soulmem.forgetting.forgetter import EbbinghausForgetter
from pytest_soulmem.forgetting.laws import LAWS, Domain
from pytest_soulmem.forgetting.masking import mask, masked_count, masking_order, words
from pytest_soulmem.forgetting.subject import Subject
from pytest_soulmem.forgetting.terms import CurveSettings, Memory

RIVER = "张三上个月去杭州出差在西湖边吃了东坡肉和龙井虾仁"
HALF_RIVER = (
    "张三 [masked]  [masked]  [masked] 出差 [masked]  [masked] 边 [masked] 了东坡肉和龙井 [masked] "
)


@pytest.mark.parametrize(
    ("text", "degree", "expected"),
    [
        (RIVER, 0.049, RIVER),
        (RIVER, 0.05, "张三上个月去杭州出差在西湖边吃了东坡肉和龙井 [masked] "),
        (RIVER, 0.109101282, "张三上个月 [masked] 杭州出差在西湖边吃了东坡肉和龙井 [masked] "),
        (RIVER, 0.5, HALF_RIVER),
        ("Hello, world 😀", 0.05, "Hello, world [masked] 😀"),
        ("Hello, world 😀", 0.5, " [masked] , world [masked]  [masked] "),
        ("Hello, world 😀", 1.0, " [masked] " * 6),
    ],
)
def test_fixed_masks(text, degree, expected):
    assert mask(text, degree) == expected


def test_another_process_masks_the_same():
    code = (
        "import sys; from pytest_soulmem.forgetting.masking import mask;"
        "sys.stdout.buffer.write(mask(sys.argv[1], 0.5).encode())"
    )
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", code, RIVER], capture_output=True, check=True
    )
    assert done.stdout.decode() == HALF_RIVER


def test_words_are_cut_with_the_hidden_markov_model():
    assert words("王小明硕士毕业") == ["王小明", "硕士", "毕业"]


def test_words_that_others_teach_the_shared_segmenter_change_nothing():
    import rjieba

    rjieba.add_word("边吃了东坡肉", 10**6, "n")
    assert mask(RIVER, 0.5) == HALF_RIVER


@pytest.mark.parametrize(
    ("count", "degree", "expected"),
    [
        (10, 0.0499, 0),
        (10, 0.05, 1),
        (100, 0.05, 5),
        (10, 0.149, 1),
        (10, 0.15, 2),
        (10, 0.25, 3),
        (1, 1.0, 1),
        (3, 1.2, 3),
    ],
)
def test_how_many_words_are_masked(count, degree, expected):
    assert masked_count(count, degree) == expected


def test_the_order_depends_on_the_text_alone():
    assert masking_order(RIVER, 14) == masking_order(RIVER, 14)
    assert masking_order(RIVER, 14) != masking_order(RIVER + "。", 14)
    assert [p for p in masking_order(RIVER, 14) if p < 5] == masking_order(RIVER, 5)


@given(strategies.texts())
@example("a  b\r\n\tc")
@example("[masked]")
def test_words_are_the_whole_text(text):
    assert "".join(words(text)) == text


@pytest.mark.parametrize("name", ["mask-nested", "mask-ratio"])
@given(data=st.data(), text=strategies.texts())
def test_laws_hold_for_every_text(name, data, text):
    assume("[masked]" not in text)
    domain = Domain(Subject(EbbinghausForgetter()), CurveSettings(), [Memory(text)], 1e-9)
    law = LAWS[name]
    law.check(domain, **data.draw(st.fixed_dictionaries(dict(law.draw(domain)))))
