"""Small projects for inner pytest runs: fixtures as users write them, and a fake embedder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest

EMBEDDER = """
import hashlib

import numpy as np

from pytest_soulmem.embedders import Identity


class Fake:
    identity = Identity("fake", "noise", "1")

    def embed(self, texts, side):
        return np.array([self._vector(text) for text in texts], np.float32)

    def _vector(self, text):
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
        return np.random.default_rng(seed).standard_normal(64)


def pytest_soulmem_embedder(config):
    return Fake()
"""
"""Equal texts are equal, others have next to nothing in common."""


def concept(name: str, content: str, **fields: Any) -> dict[str, Any]:
    semantic = {"content": content, "aliases": [], "concept_type": "Entity", "description": content}
    mem_type = {"Semantic": semantic}
    return {"id": name, "tags": [content], "mem_type": mem_type, "mem_links": [], **fields}


def action(name: str, content: str) -> dict[str, Any]:
    mem_type = {"Procedure": {"action": {"content": content, "action_type": "Speak"}}}
    return {"id": name, "tags": [content], "mem_type": mem_type, "mem_links": []}


def link(source: str, target: str, **fields: Any) -> dict[str, Any]:
    kind = {"Sem": {"verb": "knows", "confidence": 0.8}}
    return {"from": source, "to": target, "intensity": 0.5, "link_type": kind, **fields}


def graph() -> list[dict[str, Any]]:
    return [
        concept("tea", "茶", mem_links=[link("tea", "cup")]),
        concept("cup", "杯子"),
        concept("sea", "大海"),
        action("greet", "你好"),
    ]


def sub_query(word: str = "茶", **fields: Any) -> dict[str, Any]:
    variant = {"Semantic": [{"concept_identifier": word, "description": word}]}
    return {"priority": 1, "tag": [word], "variant": variant, **fields}


def case(name: str = "asks for tea", **fields: Any) -> dict[str, Any]:
    """A case that holds: its first result is ``tea``."""
    whole = {
        "name": name,
        "sub_queries": [sub_query()],
        "expected_per_query": [{"q": 0, "ranking": ["tea"]}],
        "expected_combined_ranking": ["tea"],
    }
    return whole | fields


def failing(name: str = "asks for the sea", **fields: Any) -> dict[str, Any]:
    """A case that does not hold: of two expected ids the wrong one comes first."""
    return case(name, expected_combined_ranking=["sea", "tea"], expected_per_query=[], **fields)


def queries(*cases: Any, **fields: Any) -> dict[str, Any]:
    config = {"similarity_threshold": -1.0, "max_results": 3, "test_k_values": [1, 3]}
    return {
        "name": "queries",
        "description": "",
        "graph_path": "../graphs/g.json",
        "config": config | fields.pop("config", {}),
        "test_cases": list(cases or (case(),)),
        **fields,
    }


class Project:
    """A folder with fixtures, and pytest runs in it."""

    def __init__(self, path: Path, pytester: pytest.Pytester | None = None) -> None:
        self.path = path
        self._pytester = pytester
        self.write("conftest.py", EMBEDDER)
        self.write("graphs/g.json", graph())

    def write(self, place: str, content: object) -> Path:
        """Write bytes, text, or anything else as JSON."""
        path = self.path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(content, (bytes, str)):
            content = json.dumps(content)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    @property
    def pytester(self) -> pytest.Pytester:
        assert self._pytester
        return self._pytester

    def run(self, *args: str) -> pytest.RunResult:
        """In this process, which is quick."""
        return self.pytester.runpytest_inprocess("-p", "no:cacheprovider", *args)

    def run_apart(self, *args: str) -> pytest.RunResult:
        """In a process of its own: for xdist and for what modules get imported."""
        return self.pytester.runpytest_subprocess(*args)

    def node_ids(self, *args: str) -> list[str]:
        """What is collected, with xdist's or pytest's own header and summary left out."""
        lines = self.run("--collect-only", "-q", *args).outlines
        return [line for line in lines if "::" in line]


LEAKING = ("CI", "BUILD_NUMBER", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "COLUMNS")
"""Environment variables that would change what inner runs do."""


def run_plainly(folder: Path, *args: str) -> str:
    """What pytest prints, run in a folder without the help of ``pytester``."""
    environment = {name: value for name, value in os.environ.items() if name not in LEAKING}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *args]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False
    ).stdout


def unprintable(text: str) -> list[str]:
    """Characters that move a cursor, colour or reorder a line, or are no characters at all."""
    unwanted = ("Cc", "Cf", "Cs", "Zl", "Zp")
    return [one for one in text if unicodedata.category(one) in unwanted and one != "\n"]
