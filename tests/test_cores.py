"""A worker's share of the cores."""

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from pytest_soulmem import cores


def threads() -> int:
    assert np.eye(2) @ np.eye(2) is not None  # The library is loaded.
    libraries = ThreadpoolController().select(user_api="blas").lib_controllers
    return max(library.num_threads for library in libraries)


@pytest.mark.parametrize(
    ("workers", "before", "share"),
    [
        (2, 6, 3),
        (4, 6, 1),
        (8, 6, 1),
        (2, 2, 2),  # Whoever asked for fewer threads keeps them.
        (1, 6, 6),
        (None, 6, 6),
        ("", 6, 6),
        ("0", 6, 6),
        ("many", 6, 6),
    ],
)
def test_a_worker_takes_its_share_and_gives_it_back(monkeypatch, workers, before, share) -> None:
    monkeypatch.setattr(cores, "_cores", lambda: 6)
    monkeypatch.delenv("PYTEST_XDIST_WORKER_COUNT", raising=False)
    if workers is not None:
        monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", str(workers))
    with ThreadpoolController().limit(limits=before, user_api="blas"):
        restore = cores.take_a_share()
        assert threads() == share
        restore()
        assert threads() == before


def test_there_is_a_core() -> None:
    assert cores._cores() >= 1
