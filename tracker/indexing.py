"""Items in the search index: written in the transaction of the change, never after it."""

from __future__ import annotations

from collections.abc import Iterator

from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from crewlet.kernel.events import receiver
from crewlet.search.find import Source
from crewlet.search.index import forget, index
from tracker.events import TextsChanged
from tracker.queries.search import KIND, findable, text_to_index


@receiver(TextsChanged, order=30)
def items_are_searchable_at_once(fact: TextsChanged) -> None:
    """Indexes the changed items; one that is not to be found any more leaves the index."""
    found = {item.pk: item for item in findable().filter(pk__in=fact.items)}
    for ident in sorted(fact.items):
        item = found.get(ident)
        if item is None:
            forget(KIND, str(ident))
        else:
            index(KIND, str(ident), f"{item.key} {item.title}", text_to_index(item))


def _texts() -> Iterator[tuple[str, str, str]]:
    for item in findable().order_by("id").iterator(chunk_size=500):
        yield str(item.pk), f"{item.key} {item.title}", text_to_index(item)


def _may_find(actor: Actor) -> bool:
    return actor.is_agent or Grant.STATE_READ in actor.grants


SOURCE = Source(
    title="Work items",
    may_find=_may_find,
    total=lambda: findable().count(),
    texts=_texts,
)
