"""Fetch or not found: items and projects by the words people and models use for them."""

from __future__ import annotations

from crewlet.kernel.errors import Gone, Invalid, NotFound
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


def locked(item: WorkItem, *, removed: bool = False) -> WorkItem:
    """Returns the item's row as it is now, locked until the transaction ends.

    Raises `Gone` for an item that was removed, unless `removed` says that such a one will do.
    Lock order: project first where both are taken, then items by id; the change counter last.
    """
    fresh = WorkItem.objects.select_for_update(no_key=True, of=("self",)).get(pk=item.pk)
    for name in _KEPT:
        # What the caller read a moment ago still names it; anything else is read when asked for.
        known = item._state.fields_cache.get(name)
        if known is not None and known.pk == getattr(fresh, f"{name}_id"):
            setattr(fresh, name, known)
    return fresh if removed else in_sight(fresh)


def in_sight(item: WorkItem, *, field: str = "item") -> WorkItem:
    """Returns an item that takes writes; raises `Gone` naming a removed one and the remedy."""
    if item.removed_at is not None:
        raise Gone(
            f"{field}: {item.key} was removed by {item.removed_by_name} and takes no writes. A "
            "person can bring it back with restore_work_item.",
            field=field,
            removed_at=item.removed_at.isoformat(),
        )
    return item


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


def taking(project: Project, *, field: str = "project") -> Project:
    """Returns a project that takes new work; raises `Invalid` for an archived one."""
    if project.archived_at is not None:
        raise Invalid(
            f"{field}: {project.key} is archived and takes no new item or file. Restore it with "
            "write_project(archived=false), or choose another project.",
            field=field,
        )
    return project


def comment_on(item: WorkItem, word: str, *, field: str) -> Comment:
    """Returns a comment of an item by its id; raises `NotFound` naming the argument."""
    ident = as_id(word.strip().removeprefix("ask:").removeprefix("comment:"))
    found = item.comments.filter(pk=ident).first() if ident is not None else None
    if found is None:
        raise NotFound(f"{field}: {item.key} has no comment {word!r}.", field=field)
    return found
