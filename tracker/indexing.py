"""Items in the search index: written in the transaction of the change, never after it."""

from __future__ import annotations

from collections.abc import Iterator

from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from crewlet.kernel.events import receiver
from crewlet.search.find import Source
from crewlet.search.index import forget, index
from tracker.events import TextsChanged
from tracker.queries.search import KIND, findable, texts_to_index


@receiver(TextsChanged, order=30)
def items_are_searchable_at_once(fact: TextsChanged) -> None:
    """Indexes the changed items; one that is not to be found any more leaves the index."""
    there = set()
    for ident, title, body in texts_to_index(findable().filter(pk__in=fact.items)):
        index(KIND, str(ident), title, body)
        there.add(ident)
    for ident in sorted(set(fact.items) - there):
        forget(KIND, str(ident))


def _texts() -> Iterator[tuple[str, str, str]]:
    for ident, title, body in texts_to_index(findable()):
        yield str(ident), title, body


def _may_find(actor: Actor) -> bool:
    return actor.is_agent or Grant.STATE_READ in actor.grants


SOURCE = Source(
    title="Work items",
    may_find=_may_find,
    total=lambda: findable().count(),
    texts=_texts,
)
