"""Fetch or not found: items and projects by the words people and models use for them."""

from __future__ import annotations

from crewlet.kernel.errors import Invalid, NotFound
from crewlet.kernel.nearest import nearest
from tracker.models.comments import Comment
from tracker.models.items import WorkItem
from tracker.models.projects import Project
from tracker.queries.lookup import as_id, pick

_KEPT = ("project", "assignee", "reporter", "parent")
_RELATED = ("project", "assignee", "reporter", "parent", "parent__project")


def item_by_key(word: str, *, field: str = "item") -> WorkItem:
    """Returns an item by a key it has or had or by its id; raises `NotFound` naming the word."""
    return pick(WorkItem.objects.select_related(*_RELATED), word, field=field)


def locked(item: WorkItem) -> WorkItem:
    """Returns the item's row as it is now, locked until the transaction ends.

    Lock order: project first where both are taken, then items by id; the change counter last.
    """
    fresh = WorkItem.objects.select_for_update(no_key=True, of=("self",)).get(pk=item.pk)
    for name in _KEPT:
        # What the caller read a moment ago still names it; anything else is read when asked for.
        known = item._state.fields_cache.get(name)
        if known is not None and known.pk == getattr(fresh, f"{name}_id"):
            setattr(fresh, name, known)
    return fresh


def project_by_key(word: str, *, field: str = "project") -> Project:
    """Returns a project by its key in any case; raises `Invalid` naming the keys there are."""
    bare = word.strip().removeprefix("project:").upper()
    found = Project.objects.select_related("lead", "default_assignee").filter(key=bare).first()
    if found is not None:
        return found
    keys = list(Project.objects.order_by("key").values_list("key", flat=True)[:50])
    if not keys:
        raise Invalid(
            f"{field}: there is no project yet. A unit of the org chart with a project key "
            "makes one.",
            field=field,
        )
    hint = nearest(bare, keys)
    raise Invalid(
        f"{field}: there is no project {bare!r}."
        + (f" Did you mean {hint}?" if hint else "")
        + f" There are: {', '.join(keys)}.",
        field=field,
        allowed=keys,
    )


def comment_on(item: WorkItem, word: str, *, field: str) -> Comment:
    """Returns a comment of an item by its id; raises `NotFound` naming the argument."""
    ident = as_id(word.strip().removeprefix("ask:").removeprefix("comment:"))
    found = item.comments.filter(pk=ident).first() if ident is not None else None
    if found is None:
        raise NotFound(f"{field}: {item.key} has no comment {word!r}.", field=field)
    return found
