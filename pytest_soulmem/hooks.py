"""The hooks that users implement, in a ``conftest.py`` or a plugin, to judge their own system."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_soulmem.embedders import Embedder
    from pytest_soulmem.events import Reducer
    from pytest_soulmem.forgetting import Forgetter, Reviser
    from pytest_soulmem.retrieval import Graph, Retriever


@pytest.hookspec(firstresult=True)
def pytest_soulmem_embedder(config: pytest.Config) -> Embedder | None:
    """Return the embedder that the built-in retriever uses; None leaves the choice to options."""


@pytest.hookspec(firstresult=True)
def pytest_soulmem_retriever(config: pytest.Config, graph: Graph) -> Retriever | None:
    """Return a memory system that holds ``graph``; None asks for the built-in one.

    Called once per graph and process.
    """


@pytest.hookspec(firstresult=True)
def pytest_soulmem_forgetter(config: pytest.Config) -> Forgetter | None:
    """Return the forgetting code to judge; None asks for the built-in one."""


@pytest.hookspec(firstresult=True)
def pytest_soulmem_reviser(config: pytest.Config) -> Reviser | None:
    """Return what rewrites a masked memory; None leaves masked texts as they are."""


@pytest.hookspec(firstresult=True)
def pytest_soulmem_event_reducer(config: pytest.Config) -> Reducer | None:
    """Return the function that reduces model events to a verdict; None asks for the built-in one.

    Called once per process; the function is called with ``(events, turn, step)``.
    """
