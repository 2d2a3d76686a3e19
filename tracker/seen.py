"""Items and projects as references of the kind `item:ENG-4`, and who may hear of them."""

from __future__ import annotations

from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from tracker.models.items import WorkItem
from tracker.models.projects import ItemKey, Project


def item_label(key: str) -> str:
    """Returns `ENG-4 Title`; the key alone for an item that is not there."""
    title = WorkItem.objects.filter(keys__key=key.upper()).values_list("title", flat=True).first()
    return f"{key} {title}" if title else key


def item_url(key: str) -> str:
    """Returns where an item opens."""
    return f"/work/{key}"


def item_exists(key: str) -> bool:
    """Returns whether an item has or had this key."""
    return ItemKey.objects.filter(key=key.upper(), item__isnull=False).exists()


def project_label(key: str) -> str:
    """Returns a project's name; the key for one that is not there."""
    return Project.objects.filter(key=key.upper()).values_list("name", flat=True).first() or key


def project_url(key: str) -> str:
    """Returns where a project opens."""
    return f"/work/{key}"


def project_exists(key: str) -> bool:
    """Returns whether there is a project of this key."""
    return Project.objects.filter(key=key.upper()).exists()


def may_hear(actor: Actor, _rest: str) -> bool:
    """Whoever may read the company's state may hear that an item changed."""
    return actor.is_agent or Grant.STATE_READ in actor.grants
