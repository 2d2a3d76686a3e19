"""Writes of the index, inside the transaction of the text they follow."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.db import connection

from crewlet.search.words import terms

# A term whose count stays keeps its row: a comment on a long text rewrites little of it.
_INDEX = """
WITH doc AS (
    INSERT INTO search_searchdoc (kind, ident, title, body, length)
    VALUES (%(kind)s, %(ident)s, %(title)s, %(body)s, %(length)s)
    ON CONFLICT (kind, ident) DO UPDATE
    SET title = EXCLUDED.title, body = EXCLUDED.body, length = EXCLUDED.length
    RETURNING id
), gone AS (
    DELETE FROM search_searchposting USING doc
    WHERE doc_id = doc.id AND NOT (term = ANY(%(terms)s))
)
INSERT INTO search_searchposting (term, doc_id, tf)
SELECT given.term, doc.id, given.tf
FROM doc, unnest(%(terms)s::text[], %(counts)s::int[]) AS given(term, tf)
ON CONFLICT (term, doc_id) DO UPDATE SET tf = EXCLUDED.tf
WHERE search_searchposting.tf <> EXCLUDED.tf
"""


def index(kind: str, ident: str, title: str, body: str = "") -> None:
    """Makes a text findable as it is now; one statement, in the caller's transaction.

    Holds: whoever indexes a text has locked its own row, or has just written it. The words of an
    older version are told by this statement's view, so two writers of one text must not meet here.
    """
    counts = Counter(terms(f"{title}\n{body}"))
    names = sorted(counts)
    given: dict[str, Any] = {
        "kind": kind,
        "ident": ident,
        "title": title,
        "body": body,
        "length": counts.total(),
        "terms": names,
        "counts": [counts[name] for name in names],
    }
    with connection.cursor() as cursor:
        cursor.execute(_INDEX, given)


def forget(kind: str, ident: str) -> None:
    """Takes a text out of the index at once, in the caller's transaction."""
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH gone AS (SELECT id FROM search_searchdoc WHERE kind = %s AND ident = %s"
            " FOR UPDATE), words AS (DELETE FROM search_searchposting"
            " WHERE doc_id IN (SELECT id FROM gone)) SELECT id FROM gone",
            (kind, ident),
        )
        row = cursor.fetchone()
        if row is not None:
            cursor.execute("DELETE FROM search_searchdoc WHERE id = %s", row)


def forget_kind(kind: str) -> None:
    """Takes every text of a kind out of the index, before it is built anew."""
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM search_searchposting USING search_searchdoc d"
            " WHERE d.id = doc_id AND d.kind = %s",
            (kind,),
        )
        cursor.execute("DELETE FROM search_searchdoc WHERE kind = %s", (kind,))
