"""Reads of the audit: who did what, by which door, and what was refused. Newest first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any, Final

from django.db.models import Q

from crewlet.kernel.actions import ACTIONS, Door
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant, require
from crewlet.kernel.cursors import read_cursor, write_cursor
from crewlet.kernel.errors import CrewletError, ErrorCode
from crewlet.kernel.models import AuditEntry
from crewlet.kernel.nearest import nearest

PAGE: Final = 50
MAX_PAGE: Final = 200
FILTERS: Final = ("actor", "action", "door", "since", "until", "refused")
_FIELDS: Final = (
    "id", "at", "actor", "actor_kind", "credential", "action", "door", "refs", "summary",
    "operation", "turn_id", "refused",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which entries are wanted; what is empty does not narrow. `until` is not included."""

    actor: str = ""
    action: str = ""
    door: str = ""
    since: datetime | None = None
    until: datetime | None = None
    refused: bool | None = None


def filter_of(given: Mapping[str, str]) -> AuditFilter:
    """Returns the filter that a query's texts ask for; raises `invalid_query` naming a bad one."""
    door, action = given.get("door", ""), given.get("action", "")
    if door and door not in set(Door):
        raise _bad("door", f"There is no door '{door}'; there are {', '.join(sorted(Door))}.")
    if action and action not in ACTIONS:
        hint = nearest(action, list(ACTIONS))
        raise _bad(
            "action",
            f"There is no action '{action}'." + (f" Did you mean {hint}?" if hint else ""),
        )
    refused = given.get("refused", "")
    if refused not in ("", "true", "false"):
        raise _bad("refused", "refused is true or false.")
    return AuditFilter(
        actor=given.get("actor", "").strip(),
        action=action,
        door=door,
        since=_instant(given, "since"),
        until=_instant(given, "until"),
        refused=None if not refused else refused == "true",
    )


def entries(
    actor: Actor, wanted: AuditFilter, *, cursor: str = "", limit: int = PAGE
) -> dict[str, Any]:
    """Returns a page: `entries` and `next_cursor` (None on the last one); asks for `audit:read`."""
    require(actor, Grant.AUDIT_READ)
    chosen = AuditEntry.objects.filter(_condition(wanted))
    if cursor:
        at, ident = read_cursor(cursor)
        chosen = chosen.filter(Q(at__lt=at) | Q(at=at, id__lt=ident))
    limit = max(1, min(limit, MAX_PAGE))
    rows = list(chosen.order_by("-at", "-id").values(*_FIELDS)[: limit + 1])
    page = rows[:limit]
    more = len(rows) > limit
    return {
        "entries": page,
        "next_cursor": write_cursor(page[-1]["at"], page[-1]["id"]) if more else None,
    }


def _condition(wanted: AuditFilter) -> Q:
    condition = Q()
    for field, value in (("action", wanted.action), ("door", wanted.door),
                         ("at__gte", wanted.since), ("at__lt", wanted.until)):  # fmt: skip
        if value:
            condition &= Q(**{field: value})
    if wanted.actor:
        # A person who holds a seat acts under its handle, with the login in the credential.
        proofs = (wanted.actor, f"session:{wanted.actor}", f"token:{wanted.actor}")
        condition &= Q(actor=wanted.actor) | Q(credential__in=proofs)
    if wanted.refused is not None:
        condition &= ~Q(refused="") if wanted.refused else Q(refused="")
    return condition


def _instant(given: Mapping[str, str], name: str) -> datetime | None:
    text = given.get(name, "").strip()
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is not None and len(text) == len("2026-03-01"):
        return datetime.combine(date.fromisoformat(text), time(), UTC)
    if found is None or found.tzinfo is None:
        raise _bad(
            name, f"{name} is a day, or an instant with its zone such as 2026-03-01T09:00:00Z."
        )
    return found


def _bad(field: str, words: str) -> CrewletError:
    return CrewletError(words, code=ErrorCode.INVALID_QUERY, field=field)
