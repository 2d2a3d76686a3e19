"""What happened in a project: its items, its files, its settings, one row a write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from crewlet.kernel.errors import Invalid
from tracker.models.history import Change
from tracker.models.projects import Project
from tracker.queries.detail import names_in, sentence
from tracker.queries.rows import author_party, item_url
from tracker.wakes import ChangeKind

PAGE: Final = 50

KINDS: Final[Mapping[str, tuple[ChangeKind, ...]]] = {
    "items": (
        ChangeKind.CREATED, ChangeKind.FIELDS, ChangeKind.STATUS, ChangeKind.ASSIGNEE,
        ChangeKind.WATCHERS, ChangeKind.REPARENTED,
    ),
    "talk": (ChangeKind.COMMENT, ChangeKind.NOTE),
    "removals": (ChangeKind.REMOVED, ChangeKind.RESTORED, ChangeKind.PURGED),
    "project": (ChangeKind.PROJECT_UPDATED, ChangeKind.FILE_WRITTEN, ChangeKind.FILE_REMOVED),
}  # fmt: skip
"""What history can be narrowed to → the kinds of change that it shows."""


@dataclass(frozen=True, slots=True)
class History:
    """One page of it, newest first, and the number that the next page starts below (0: none)."""

    rows: list[dict[str, Any]]
    next: int


def project_history(project: str, kind: str = "", before: int = 0) -> History:
    """Returns the changes of a project below the sequence number `before` (0: the newest).

    Two statements and one for the names. Raises `Invalid` for a kind that it does not know.
    """
    found = Change.objects.filter(project=Project.objects.get(key=project.upper()))
    if kind:
        if kind not in KINDS:
            raise Invalid(
                f"kind: {kind!r} is none of {', '.join(KINDS)}.", field="kind", allowed=list(KINDS)
            )
        found = found.filter(kind__in=KINDS[kind])
    if before:
        found = found.filter(seq__lt=before)
    changes = list(found.select_related("seat", "item").order_by("-seq")[: PAGE + 1])
    shown = changes[:PAGE]
    names = names_in(shown)
    return History(
        [_row(change, names) for change in shown],
        shown[-1].seq if len(changes) > PAGE else 0,
    )


def before_of(word: str) -> int:
    """Reads a place in history from an address; 0 for none. Raises `Invalid` for another word."""
    if word and not word.isdecimal():
        raise Invalid(
            f"before: {word!r} is no place in this history; give the `next` of a page.",
            field="before",
        )
    return int(word or 0)


def _row(change: Change, names: Mapping[str, str]) -> dict[str, Any]:
    return {
        "id": str(change.pk),
        "who": author_party(change.actor, change.actor_name, change.actor_kind, change.seat),
        "at": change.at,
        "key": change.item.key if change.item else "",
        "title": change.item.title if change.item else "",
        "url": item_url(change.item.key) if change.item else "",
        "text": _words(change, names),
        "reason": change.reason,
        "turn": f"/live/turns/{change.turn_id}" if change.turn_id else "",
        "kind": change.kind,
    }


def _words(change: Change, names: Mapping[str, str]) -> str:
    """Returns what was done, for a reader who has no item in front of them."""
    match change.kind:
        case ChangeKind.COMMENT | ChangeKind.NOTE:
            return f"said: {change.excerpt}" if change.excerpt else "commented"
        case ChangeKind.FILE_WRITTEN:
            return f"wrote the file {change.excerpt}"
        case ChangeKind.FILE_REMOVED:
            return f"removed the file {change.excerpt}"
        case ChangeKind.PURGED:
            return f"destroyed {change.fields['key']['from']} for good"
        case ChangeKind.PROJECT_UPDATED:
            return " and ".join(_setting(name, pair) for name, pair in change.fields.items())
    return sentence(change, names)


def _setting(name: str, pair: Mapping[str, Any]) -> str:
    new = pair["to"]
    if name == "archived":
        return "archived the project" if new else "took the project out of the archive"
    if name == "default_assignee":
        return "chose who gets new items" if new else "left new items to the lead"
    if name == "tags_added":
        return f"declared the tags {', '.join(new)}"
    if name == "tags_archived":
        return f"archived the tags {', '.join(new)}"
    return f"renamed {name} to {new}"
