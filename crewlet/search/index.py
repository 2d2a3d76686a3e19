"""Writes of the index, inside the transaction of the text they follow."""

from __future__ import annotations

from collections import Counter

from django.db import connection

from crewlet.search.words import terms

# The document's row orders two writers of one text; its postings are replaced under that lock.
_DOC = """
INSERT INTO search_searchdoc (kind, ident, title, body, length) VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (kind, ident) DO UPDATE
SET title = EXCLUDED.title, body = EXCLUDED.body, length = EXCLUDED.length
RETURNING id
"""
# A term whose count stays keeps its row: a comment on a long text rewrites little of it.
_DROP = """
DELETE FROM search_searchposting WHERE doc_id = %s AND NOT (term = ANY(%s))
"""
_PUT = """
INSERT INTO search_searchposting (term, doc_id, tf)
SELECT given.term, %s, given.tf FROM unnest(%s::text[], %s::int[]) AS given(term, tf)
ON CONFLICT (term, doc_id) DO UPDATE SET tf = EXCLUDED.tf
WHERE search_searchposting.tf <> EXCLUDED.tf
"""


def index(kind: str, ident: str, title: str, body: str = "") -> None:
    """Makes a text findable as it is now; three statements, in the caller's transaction."""
    counts = Counter(terms(f"{title}\n{body}"))
    names = sorted(counts)
    with connection.cursor() as cursor:
        cursor.execute(_DOC, (kind, ident, title, body, counts.total()))
        (doc,) = cursor.fetchone()
        cursor.execute(_DROP, (doc, names))
        cursor.execute(_PUT, (doc, names, [counts[name] for name in names]))


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
