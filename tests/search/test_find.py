"""The index and exact BM25 on a real database."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext

from crewlet.kernel.actors import Actor, engine_actor
from crewlet.kernel.errors import Invalid
from crewlet.kernel.registry import thawed
from crewlet.search import find
from crewlet.search.find import SOURCES, Source, search
from crewlet.search.index import forget, index
from crewlet.search.models import SearchDoc, SearchPosting
from crewlet.search.rebuild import rebuild
from crewlet.search.words import terms

pytestmark = pytest.mark.django_db
ACTOR = engine_actor("tests")
TEXTS = {
    "1": ("Lamp", "the lamp is broken and the lamp is hot"),
    "2": ("Switch", "the switch of the lamp"),
    "3": ("Invoice", "the invoice of March"),
    "4": ("Very long", "the " * 80 + "lamp"),
}


@pytest.fixture(autouse=True)
def sources() -> Iterator[None]:
    """Two kinds of text, `note` and `secret`; nobody may find the second."""
    note = Source(
        "Notes", lambda actor: True, lambda: len(TEXTS),
        lambda: ((ident, *text) for ident, text in TEXTS.items()),
    )  # fmt: skip
    secret = replace(note, may_find=lambda actor: False, total=lambda: 1, texts=lambda: ())
    with thawed(SOURCES):
        SOURCES._entries.clear()
        SOURCES.register("note", note)
        SOURCES.register("secret", secret)
        rebuild()
        yield


def scores(query: str) -> dict[str, float]:
    """The same sums by hand, over every text of the index."""
    docs = {
        (doc.kind, doc.ident): terms(f"{doc.title}\n{doc.body}") for doc in SearchDoc.objects.all()
    }
    mean = sum(map(len, docs.values())) / len(docs)
    found: dict[str, float] = {}
    for (kind, ident), words in docs.items():
        score = 0.0
        for term in set(terms(query)):
            tf, df = words.count(term), sum(term in other for other in docs.values())
            if tf:
                rarity = math.log(1 + (len(docs) - df + 0.5) / (df + 0.5))
                score += rarity * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * len(words) / mean))
        if score and kind == "note":
            found[ident] = score
    return found


@pytest.mark.covers("KNOW-25")
@pytest.mark.parametrize("query", ["lamp", "broken lamp", "the switch", "invoice of lamp", "the"])
def test_hits_are_the_exact_bm25_order(query: str) -> None:
    index("secret", "1", "Lamp", "lamp lamp")
    found = search(ACTOR, query)
    expected = scores(query)
    assert [hit.ident for hit in found.hits] == sorted(expected, key=lambda key: -expected[key])
    for hit in found.hits:
        assert hit.score == pytest.approx(expected[hit.ident])
    best = search(ACTOR, query, limit=1).hits
    assert best == found.hits[:1]


@pytest.mark.covers("KNOW-25")
def test_any_word_may_match_and_marks_are_no_language() -> None:
    assert {hit.ident for hit in search(ACTOR, "invoice switch").hits} == {"2", "3"}
    assert search(ACTOR, "-invoice nowhere").hits[0].ident == "3"
    for marks in ("%_\\", "'); DROP TABLE--", "zzz"):
        found = search(ACTOR, marks)
        assert (found.state, found.hits) == ("nothing", ())


@pytest.mark.covers("KNOW-33")
def test_each_state_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hits, nothing, building and failed."""
    assert search(ACTOR, "lamp").state == "hits"
    forget("note", "3")
    building = search(ACTOR, "lamp")
    assert building.state == "building"
    assert building.hits
    assert search(ACTOR, "invoice").state == "building"

    def breaks(*given: object) -> None:
        raise DatabaseError("gone")

    monkeypatch.setattr(find, "_best", breaks)
    assert search(ACTOR, "lamp").state == "failed"


def test_a_query_over_400_bytes_is_refused_and_not_cut() -> None:
    assert search(ACTOR, "a" * 400).state == "nothing"
    with pytest.raises(Invalid, match="q: 401 bytes; at most 400"):
        search(ACTOR, "a" * 401)
    with pytest.raises(Invalid, match="at most 400"):
        search(ACTOR, "é" * 201)
    with pytest.raises(Invalid, match="say what to look for"):
        search(ACTOR, "  ")


def test_writing_a_text_again_leaves_only_its_new_words() -> None:
    index("note", "3", "Receipt", "of April")
    assert search(ACTOR, "invoice").state == "nothing"
    assert search(ACTOR, "receipt").hits[0].ident == "3"
    forget("note", "3")
    assert not SearchPosting.objects.filter(term="receipt").exists()
    assert SearchDoc.objects.count() == 3


def test_a_kind_that_the_actor_may_not_find_stays_hidden() -> None:
    index("secret", "1", "Treasure", "gold")
    actor: Actor = ACTOR
    assert search(actor, "gold").hits == ()
    assert search(actor, "gold", kinds=["secret"]).hits == ()


def test_a_write_costs_one_statement_and_a_search_two() -> None:
    with CaptureQueriesContext(connection) as wrote:
        index("note", "1", "Lamp", " ".join(f"word{number}" for number in range(3000)))
    assert len(wrote) == 1
    with CaptureQueriesContext(connection) as asked:
        search(ACTOR, "lamp switch broken word7", limit=20)
    assert len(asked) == 2
