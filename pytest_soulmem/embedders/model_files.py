"""Finding a transformer's files on this machine, and telling versions of them apart.

Nothing here imports a model library or asks the network.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_soulmem.embedders.errors import visible

CONFIGURATION = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "sentencepiece.bpe.model",
    "spiece.model",
    "tokenizer.model",
    "1_Pooling/config.json",
)
SAFETENSORS = ("model*.safetensors", "model.safetensors.index.json")
PICKLED = ("pytorch_model*.bin", "pytorch_model.bin.index.json")
_TOKENIZERS = {
    "tokenizer.json",
    "vocab.txt",
    "vocab.json",
    "sentencepiece.bpe.model",
    "spiece.model",
    "tokenizer.model",
}
_HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?", re.ASCII)


class ModelFilesError(Exception):
    """The files are not there or not whole; the text says what is wrong and where."""


@dataclass(frozen=True)
class ModelFiles:
    """A folder that holds a whole model.

    ``name`` is the hub's id or the folder's own name, never a path: a store travels between
    machines. ``version`` tells models of one name apart.
    """

    folder: Path
    name: str
    version: str

    def config(self, name: str = "config.json") -> dict[str, Any]:
        """One of the model's JSON files; empty if there is none."""
        file = self.folder / name
        return _read_object(file) if file.is_file() else {}


def locate(model: str, revision: str | None = None) -> ModelFiles:
    """Find a local folder or a model that the hub's cache holds.

    Args:
        model: a folder, or an id such as ``BAAI/bge-small-zh-v1.5``. A folder of that name wins.
        revision: of a hub's model; otherwise what its main branch was when it was fetched.

    Raises:
        ModelFilesError: there is no such folder or cached model, or it is not whole.
    """
    folder = Path(model).expanduser()
    if folder.is_dir():
        weights = _check(folder)
        return ModelFiles(folder, folder.resolve().name, _digest(folder, weights))
    if not is_hub_id(model):
        raise ModelFilesError(f"there is no folder {visible(model)}")
    repository = hub_cache() / f"models--{model.replace('/', '--')}"
    found = revision or _cached_revision(repository)
    if found is None:
        raise ModelFilesError(f"{model} is neither a folder nor in the model cache {hub_cache()}")
    snapshot = repository / "snapshots" / found
    if not snapshot.is_dir():
        raise ModelFilesError(
            f"{model} in revision {found} is not in the model cache {hub_cache()}"
        )
    _check(snapshot)
    return ModelFiles(snapshot, model, f"revision {found}")


def is_hub_id(model: str) -> bool:
    """Whether this could be a model on the hub rather than a path."""
    return bool(_HUB_ID.fullmatch(model)) and not model.startswith(".")


def hub_cache() -> Path:
    """Where huggingface_hub keeps models, by its own environment variables."""
    named = os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE")
    if named:
        return Path(named).expanduser()
    home = os.environ.get("HF_HOME")
    if home:
        return Path(home).expanduser() / "hub"
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser() / "huggingface" / "hub"


def _cached_revision(repository: Path) -> str | None:
    try:
        return (repository / "refs" / "main").read_text("utf-8").strip() or None
    except (OSError, UnicodeDecodeError):
        pass
    # A model that was fetched by its revision has no main branch here.
    snapshots = [entry.name for entry in (repository / "snapshots").glob("*") if entry.is_dir()]
    return snapshots[0] if len(snapshots) == 1 else None


def _check(folder: Path) -> list[Path]:
    """The weight files of a folder that holds what every encoder needs."""
    place = visible(folder)
    if not (folder / "config.json").is_file():
        raise ModelFilesError(f"the model folder {place} has no config.json")
    _read_object(folder / "config.json")
    if not any((folder / name).is_file() for name in _TOKENIZERS):
        raise ModelFilesError(
            f"the model folder {place} has no tokenizer (tokenizer.json, vocab.txt)"
        )
    for patterns in (SAFETENSORS, PICKLED):
        weights = sorted(path for pattern in patterns for path in folder.glob(pattern))
        if any(path.suffix != ".json" for path in weights):
            _check_shards(weights)
            return weights
    raise ModelFilesError(
        f"the model folder {place} has no weights (model.safetensors or pytorch_model.bin)"
    )


def _check_shards(weights: list[Path]) -> None:
    for path in weights:
        if path.suffix == ".json":
            named = set(_read_object(path).get("weight_map", {}).values())
            absent = sorted(named - {other.name for other in weights})
            if absent:
                raise ModelFilesError(
                    f"{visible(path)} names {visible(absent[0])}, which is not there"
                )
        elif path.stat().st_size < 1024 and path.read_bytes().startswith(
            b"version https://git-lfs"
        ):
            raise ModelFilesError(
                f"{visible(path)} is only a Git LFS pointer; fetch it with git lfs pull"
            )


def _read_object(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ModelFilesError(f"{visible(path)} cannot be read: {visible(error)}") from None
    if not isinstance(value, dict):
        raise ModelFilesError(f"{visible(path)} is not a JSON object")
    return value


def _digest(folder: Path, weights: list[Path]) -> str:
    """Names and contents of the files that decide on vectors; a README does not."""
    total = hashlib.sha256()
    for path in (*(folder / name for name in CONFIGURATION), *weights):
        if not path.is_file():
            continue
        content = hashlib.sha256()
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                content.update(block)
        # Contents have one length each, so that no name can pass for a content.
        total.update(path.relative_to(folder).as_posix().encode() + b"\0" + content.digest())
    return f"sha256 {total.hexdigest()[:32]}"
