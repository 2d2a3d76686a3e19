"""Finding: exact BM25 over the whole index in one statement, with states that say what it means."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from django.db import DatabaseError, connection

from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import Invalid
from crewlet.kernel.registry import Registry
from crewlet.search.snippet import snippet
from crewlet.search.words import terms

log = logging.getLogger(__name__)

QUERY_BYTES = 400
MOST_HITS = 50
K1 = 1.2
B = 0.75

State = Literal["hits", "nothing", "building", "failed"]


@dataclass(frozen=True, slots=True)
class Source:
    """A kind of text: who may find it, how many there are, and all of them for a rebuild.

    `texts` yields (ident, title, body).
    """

    title: str
    may_find: Callable[[Actor], bool]
    total: Callable[[], int]
    texts: Callable[[], Iterable[tuple[str, str, str]]]


SOURCES: Registry[Source] = Registry("searched kinds of text")


@dataclass(frozen=True, slots=True)
class Hit:
    """One text that was found."""

    kind: str
    ident: str
    title: str
    snippet: str
    score: float


@dataclass(frozen=True, slots=True)
class Found:
    """What a search answers: a state, in which mode, and the best hits first."""

    state: State
    mode: str
    hits: tuple[Hit, ...] = ()


# Rarity counts the whole index, whatever kinds are asked for. Every posting of every term is read,
# so the best are exactly the best.
_FIND = """
WITH hit AS MATERIALIZED (
    SELECT term, doc_id, tf FROM search_searchposting WHERE term = ANY(%(terms)s)
), rarity AS (
    SELECT term, count(*)::float8 AS docs FROM hit GROUP BY term
), corpus AS (
    SELECT count(*)::float8 AS docs, greatest(coalesce(avg(length), 1), 1)::float8 AS mean
    FROM search_searchdoc
), best AS (
    SELECT d.id, sum(
        ln(1 + (corpus.docs - rarity.docs + 0.5) / (rarity.docs + 0.5))
        * hit.tf * (%(k1)s + 1)
        / (hit.tf + %(k1)s * (1 - %(b)s + %(b)s * d.length / corpus.mean))
    ) AS score
    FROM hit
    JOIN rarity USING (term)
    JOIN search_searchdoc d ON d.id = hit.doc_id
    CROSS JOIN corpus
    WHERE d.kind = ANY(%(kinds)s)
    GROUP BY d.id
    ORDER BY score DESC, d.id
    LIMIT %(limit)s
)
SELECT d.kind, d.ident, d.title, d.body, best.score
FROM best JOIN search_searchdoc d USING (id)
ORDER BY best.score DESC, d.id
"""
_COUNT = "SELECT kind, count(*) FROM search_searchdoc WHERE kind = ANY(%s) GROUP BY kind"


def search(
    actor: Actor, text: str, *, kinds: Iterable[str] = (), mode: str = "keyword", limit: int = 20
) -> Found:
    """Returns the texts that hold words of `text`, best first, of the kinds the actor may find.

    Raises `Invalid` for an empty or too long query. A search that broke is a state, never an
    empty answer.
    """
    words = checked(text)
    asked = tuple(kinds) or tuple(SOURCES)
    allowed = [kind for kind in asked if SOURCES[kind].may_find(actor)]
    wanted = sorted(set(terms(words)))
    try:
        hits = _best(wanted, allowed, min(limit, MOST_HITS)) if wanted else ()
        if not _is_whole(allowed):
            return Found("building", mode, hits)
    except DatabaseError:
        log.exception("search_failed")
        return Found("failed", mode)
    return Found("hits" if hits else "nothing", mode, hits)


def checked(text: str, *, field: str = "q") -> str:
    """Returns the query without outer space; raises `Invalid` naming the limit it breaks."""
    words = " ".join(text.replace("\x00", " ").split())
    size = len(words.encode("utf-8", "replace"))
    if not words:
        raise Invalid(f"{field}: say what to look for.", field=field)
    if size > QUERY_BYTES:
        raise Invalid(
            f"{field}: {size} bytes; at most {QUERY_BYTES}. Ask with the words that matter.",
            field=field,
            limit=QUERY_BYTES,
        )
    return words


def _best(wanted: list[str], kinds: list[str], limit: int) -> tuple[Hit, ...]:
    given: dict[str, Any] = {"terms": wanted, "kinds": kinds, "limit": limit, "k1": K1, "b": B}
    with connection.cursor() as cursor:
        cursor.execute(_FIND, given)
        rows = cursor.fetchall()
    return tuple(
        Hit(kind, ident, title, snippet(body or title, wanted), float(score))
        for kind, ident, title, body, score in rows
    )


def _is_whole(kinds: list[str]) -> bool:
    """Whether every text of these kinds is in the index."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, (kinds,))
        indexed = dict(cursor.fetchall())
    return all(indexed.get(kind, 0) >= SOURCES[kind].total() for kind in kinds)
