"""Moving an item, with its whole subtree, under another parent."""

from __future__ import annotations

from crewlet.kernel.errors import Invalid
from tracker.models.items import DEEPEST, WorkItem


def move_under(item: WorkItem, parent: WorkItem | None) -> None:
    """Sets an item's parent, root and depth, and those of everything below it.

    The caller holds the project's lock, so the tree stands still. The item itself is not saved.
    Raises `Invalid` for another project's parent, a circle, or a tree that gets too deep.
    """
    below = descendants(item)
    if parent is not None:
        if parent.project_id != item.project_id:
            raise Invalid(
                f"parent: {parent.key} is in another project; a part lives in its whole's project.",
                field="parent",
            )
        if parent.pk == item.pk or parent.pk in {child.pk for child in below}:
            raise Invalid(
                f"parent: {parent.key} is {item.key} itself or a part of it.", field="parent"
            )
    depth = parent.depth + 1 if parent else 1
    deepest = max([depth, *(child.depth - item.depth + depth for child in below)])
    if deepest > DEEPEST:
        raise Invalid(
            f"parent: the tree would be {deepest} levels deep; at most {DEEPEST}.", field="parent"
        )
    root_id = (parent.root_id or parent.pk) if parent else None
    for child in below:
        child.depth += depth - item.depth
        child.root_id = root_id or item.pk
    if below:
        WorkItem.objects.bulk_update(below, ["depth", "root"])
    item.parent, item.root_id, item.depth = parent, root_id, depth


def descendants(item: WorkItem) -> list[WorkItem]:
    """Returns everything below an item; one query, whatever the depth."""
    tree = WorkItem.objects.filter(root_id=item.root_id or item.pk).order_by("depth", "id")
    inside = {item.pk}
    found: list[WorkItem] = []
    for child in tree:
        if child.parent_id in inside and child.pk not in inside:
            inside.add(child.pk)
            found.append(child)
    return found
