from __future__ import annotations

import pytest
from html_samples import forget_file


@pytest.fixture
def forget_project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder with a forget file of two cases."""
    for name in ("CI", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER"):
        monkeypatch.delenv(name, raising=False)
    (pytester.path / "forget").mkdir()
    (pytester.path / "forget" / "f.json").write_text(forget_file(), "utf-8")
    return pytester
