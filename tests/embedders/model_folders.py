"""Folders that look like models, for tests that load none."""

from __future__ import annotations

import json
from pathlib import Path


def make_folder(folder: Path, *, weights: str | None = "model.safetensors") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"model_type": "bert"}))
    (folder / "vocab.txt").write_text("[PAD]\n雨\n", "utf-8")
    if weights:
        (folder / weights).write_bytes(b"weights")
    return folder


def make_snapshot(cache: Path, model: str, revision: str, *, main: bool = True) -> Path:
    """The layout that huggingface_hub gives its cache."""
    repository = cache / f"models--{model.replace('/', '--')}"
    folder = make_folder(repository / "snapshots" / revision)
    if main:
        (repository / "refs").mkdir(exist_ok=True)
        (repository / "refs" / "main").write_text(revision)
    return folder
