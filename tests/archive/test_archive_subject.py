"""Chains that raise or return nonsense: the text says what, whose, and asked about what."""

from __future__ import annotations

import pytest
from archive_helpers import ARCHIVE, PUT, TRANSFER, outcome

from pytest_soulmem.archive.chain import SqliteChain
from pytest_soulmem.archive.subject import as_subject
from pytest_soulmem.archive.terms import Archived
from pytest_soulmem.users_code import Misbehaviour


def chain_that(**returns):
    """A chain whose methods return something else."""
    methods = {name: lambda *_, value=value: value for name, value in returns.items()}
    return type("Odd", (SqliteChain,), methods)


@pytest.mark.parametrize(
    ("method", "value", "expected"),
    [
        ("put", None, "the digest as text"),
        ("archive", None, "an Archived"),
        ("archive", Archived(-1, 0, gone=True), "a number of triples"),
        ("archive", Archived(True, 0, gone=True), "a number of triples"),
        ("archive", Archived(1, 0, gone=1), "a bool"),
        ("archive", Archived(1, 0, gone=True, bound="abc"), "a list of texts"),
        ("archive", Archived(1, 0, gone=True, released=[1]), "only texts in the list"),
        ("archive", Archived(1, 0, gone=True, kept=["x"]), "a map of reasons"),
        ("read", "text", "bytes or None"),
        ("documents", None, "a list of texts"),
        ("documents", "notes", "a list of texts"),
        ("references", [("context", "chat")], "(kind, owner, digest)"),
        ("references", [("contxt", "chat", "0")], 'did you mean "context"?'),
        ("references", 3, "a list of (kind, owner, digest)"),
        ("relations", [(1, 2, 3, 4)], "(subject, relation, object, sentence)"),
        ("files", [None], "only texts in the list"),
    ],
)
def test_nonsense_is_told(method, value, expected):
    found = outcome(PUT, TRANSFER, ARCHIVE, chain=chain_that(**{method: value}))
    assert f"Odd.{method}" in found.failure.reason
    assert expected in found.failure.reason


def test_nonsense_of_counts_is_told():
    put = {**PUT, "expect": {"reference_counts": {"flag": 1}}}
    found = outcome(put, chain=chain_that(reference_count="1"))
    assert "Odd.reference_count returned '1'; expected a whole number" in found.failure.reason


def test_nonsense_of_recall_is_told():
    recall = {"step": "recall", "entity": "旗子"}
    assert "Odd.recall" in outcome(recall, chain=chain_that(recall=None)).failure.reason
    assert "Odd.context_for" in outcome(recall, chain=chain_that(context_for=3)).failure.reason


def test_other_content_is_told():
    found = outcome(PUT, chain=chain_that(read=b"other"))
    assert "returned other content" in found.failure.reason


def test_an_error_is_told_with_the_frames_of_the_chain_only():
    class Fails(SqliteChain):
        def transfer(self, *arguments):
            return self.inner()

        def inner(self):
            raise RuntimeError("disk on fire")

    found = outcome(PUT, TRANSFER, chain=Fails)
    text = found.failure.text
    assert found.failure.reason.endswith("Fails.transfer raised RuntimeError: disk on fire")
    assert "in inner" in text
    assert "ask_method" not in text
    assert "ok      [0] put media flag context chat" in text


def test_a_class_is_no_chain():
    with pytest.raises(Misbehaviour, match="the class SqliteChain, not an instance"):
        as_subject(SqliteChain)


def test_all_lacking_methods_are_named():
    with pytest.raises(Misbehaviour, match="has no method put, describe, transfer"):
        as_subject(object())
