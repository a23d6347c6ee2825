from __future__ import annotations

import pytest

from pytest_soulmem.archive import Triple, entity_name
from pytest_soulmem.archive.chain import SqliteChain
from pytest_soulmem.archive.clock import Clock

GOOD = Triple("旗子", "挂在", "阳台", "旗子挂在阳台")


@pytest.fixture
def chain(tmp_path):
    chain = SqliteChain(tmp_path, Clock())
    yield chain
    chain.close()


def archive(chain, text, *triples, name="notes"):
    chain.transfer("chat", name, text)
    return chain.archive(name, lambda _: triples)


def test_the_extractor_is_asked_about_the_text(chain):
    asked = []
    chain.transfer("chat", "notes", "旗子")
    chain.archive("notes", lambda text: asked.append(text) or [])
    assert asked == ["旗子"]


def test_an_extractor_that_raises_changes_nothing(chain):
    digest = chain.put(b"flag", "image/png", "", "chat")
    chain.transfer("chat", "notes", f"[image/png {digest[:12]}]")

    def extract(text):
        raise TimeoutError

    with pytest.raises(TimeoutError):
        chain.archive("notes", extract)
    assert chain.documents() == ["notes"]
    assert chain.relations() == []


def test_what_is_there_already_counts_as_written(chain):
    assert archive(chain, "一", GOOD).written == 1
    assert archive(chain, "二", GOOD).written == 1
    assert chain.relations() == [GOOD]


def test_a_document_that_is_not_there_cannot_be_archived(chain):
    with pytest.raises(KeyError, match="nowhere"):
        chain.archive("nowhere", lambda _: [])


def test_a_document_refers_to_what_its_text_names(chain):
    digest = chain.put(b"flag", "image/png", "", None)
    chain.transfer("chat", "notes", f"[image/png {digest[:20]}]")
    assert chain.references() == [("document", "notes", digest)]


def test_the_whole_digest_serves_in_a_marker_too(chain):
    digest = chain.put(b"flag", "image/png", "", "chat")
    told = archive(chain, f"[image/png {digest}] 旗子")
    assert (told.bound, told.released) == ([digest], [digest])
    assert chain.recall(entity_name("image/png", digest)) == [digest]


def test_a_sentence_of_the_extractor_binds_as_well(chain):
    digest = chain.put(b"flag", "image/png", "", "chat")
    told = archive(chain, "旗子", GOOD._replace(sentence=f"看 [image/png {digest[:12]}]"))
    assert told.bound == [digest]
    assert chain.recall("旗子") == chain.recall("阳台") == [digest]


def test_recall_goes_one_relation_deep(chain):
    digest = chain.put(b"flag", "image/png", "", "chat")
    archive(chain, f"[image/png {digest[:12]}] 旗子", GOOD)
    assert chain.recall("旗子") == [digest]
    assert chain.recall("阳台") == []


def test_context_is_added_for_entities_that_a_message_names(chain):
    digest = chain.put(b"flag", "image/png", "", "chat")
    archive(chain, f"[image/png {digest[:12]}] 三色旗")
    assert chain.context_for("还记得三色旗吗？") == [digest]
    assert chain.context_for("今天天气如何？") == []


def test_names_are_kept_without_spaces_around_them(chain):
    archive(chain, "一", GOOD._replace(subject=" 旗子 "))
    assert chain.relations()[0].subject == "旗子"
