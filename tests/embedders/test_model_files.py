from __future__ import annotations

import json
from pathlib import Path

import pytest
from embedders.model_folders import make_folder, make_snapshot

from pytest_soulmem.embedders.model_files import (
    ModelFilesError,
    is_hub_id,
    locate,
)
from pytest_soulmem.embedders.model_files import (
    hub_cache as found_cache,
)


def test_a_folder_is_known_by_its_name_and_contents(tmp_path: Path) -> None:
    here = locate(str(make_folder(tmp_path / "a" / "my-model")))
    there = locate(str(make_folder(tmp_path / "b" / "my-model")))
    assert (here.name, here.version) == (there.name, there.version)
    assert here.name == "my-model"
    assert here.version.startswith("sha256 ")


@pytest.mark.parametrize("name", ["config.json", "vocab.txt", "model.safetensors"])
def test_changed_files_change_the_version(tmp_path: Path, name: str) -> None:
    folder = make_folder(tmp_path / "model")
    before = locate(str(folder)).version
    path = folder / name
    path.write_bytes(path.read_bytes() + b" ")
    assert locate(str(folder)).version != before


def test_pooling_counts_and_a_readme_does_not(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "model")
    before = locate(str(folder)).version
    (folder / "README.md").write_text("words")
    assert locate(str(folder)).version == before
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": true}')
    assert locate(str(folder)).version != before


def test_moving_a_byte_between_files_changes_the_version(tmp_path: Path) -> None:
    one, two = make_folder(tmp_path / "one"), make_folder(tmp_path / "two")
    (one / "tokenizer.json").write_bytes(b"ab")
    (one / "tokenizer_config.json").write_bytes(b"c")
    (two / "tokenizer.json").write_bytes(b"a")
    (two / "tokenizer_config.json").write_bytes(b"bc")
    assert locate(str(one)).version != locate(str(two)).version


def test_pickled_weights_beside_safetensors_do_not_count(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "model")
    before = locate(str(folder)).version
    (folder / "pytorch_model.bin").write_bytes(b"other")
    assert locate(str(folder)).version == before
    (folder / "model.safetensors").unlink()
    assert locate(str(folder)).version != before


def test_a_relative_folder_and_a_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_folder(tmp_path / "models" / "mine")
    monkeypatch.chdir(tmp_path / "models" / "mine")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert locate(".").name == "mine"
    assert locate("~/models/mine").name == "mine"


def test_the_hub_cache(hub_cache: Path) -> None:
    folder = make_snapshot(hub_cache, "BAAI/bge-small-zh-v1.5", "abc123")
    make_snapshot(hub_cache, "BAAI/bge-small-zh-v1.5", "old", main=False)
    files = locate("BAAI/bge-small-zh-v1.5")
    assert files.folder == folder
    assert (files.name, files.version) == ("BAAI/bge-small-zh-v1.5", "revision abc123")
    assert locate("BAAI/bge-small-zh-v1.5", "old").version == "revision old"
    with pytest.raises(ModelFilesError, match="revision none is not in the model cache"):
        locate("BAAI/bge-small-zh-v1.5", "none")


def test_a_snapshot_without_a_branch_serves_if_it_is_the_only_one(hub_cache: Path) -> None:
    make_snapshot(hub_cache, "a/b", "one", main=False)
    assert locate("a/b").version == "revision one"
    make_snapshot(hub_cache, "a/b", "two", main=False)
    with pytest.raises(ModelFilesError, match="neither a folder nor in the model cache"):
        locate("a/b")


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert found_cache() == tmp_path / ".cache" / "huggingface" / "hub"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert found_cache() == tmp_path / "xdg" / "huggingface" / "hub"
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    assert found_cache() == tmp_path / "hf" / "hub"
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    assert found_cache() == tmp_path / "cache"


def spoil_config(folder: Path) -> None:
    (folder / "config.json").write_text("{not json")


def list_config(folder: Path) -> None:
    (folder / "config.json").write_text("[]")


def point_to_lfs(folder: Path) -> None:
    (folder / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\n")


def lose_a_shard(folder: Path) -> None:
    shards = {"weight_map": {"a": "model.safetensors", "b": "model-00002-of-00002.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(shards))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda folder: (folder / "model.safetensors").unlink(), "has no weights"),
        (lambda folder: (folder / "config.json").unlink(), "has no config.json"),
        (lambda folder: (folder / "vocab.txt").unlink(), "has no tokenizer"),
        (spoil_config, "config.json cannot be read"),
        (list_config, "config.json is not a JSON object"),
        (point_to_lfs, "git lfs pull"),
        (lose_a_shard, "names model-00002-of-00002.safetensors, which is not there"),
    ],
)
def test_a_broken_folder_says_what_is_wrong(tmp_path: Path, spoil: object, said: str) -> None:
    folder = make_folder(tmp_path / "model")
    spoil(folder)
    with pytest.raises(ModelFilesError, match=said) as raised:
        locate(str(folder))
    assert str(folder) in str(raised.value)


@pytest.mark.parametrize("model", ["/no/such/folder", "./models/mine", "../x", "a/b/c", "~/x"])
def test_a_path_that_is_not_there_is_no_hub_id(
    hub_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    # What "../x" leads to is then known to be missing.
    (tmp_path / "in").mkdir()
    monkeypatch.chdir(tmp_path / "in")
    assert not is_hub_id(model)
    with pytest.raises(ModelFilesError, match="there is no folder"):
        locate(model)


def test_hub_ids() -> None:
    assert is_hub_id("BAAI/bge-small-zh-v1.5")
    assert is_hub_id("bert-base-chinese")
