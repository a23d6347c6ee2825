# A module of C code that an in-process pytester run is the first to import cannot be imported
# again by the next one: import them all here.
import hypothesis  # noqa: F401
import pytest
from projects import LEAKING, Project

from pytest_soulmem.kinds import KINDS

for _kind in KINDS:
    _kind.load()


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    """An empty project with an embedder that needs no model."""
    for name in LEAKING:
        monkeypatch.delenv(name, raising=False)
    return Project(pytester.path, pytester)
