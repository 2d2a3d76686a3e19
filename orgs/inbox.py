"""The inbox: first what waits on a person, then what they were told, by the company's days.

Apps register what waits (`SOURCES`); a waiting row goes when its source no longer returns it, so a
mark on one only sets it aside: it comes back when the row is newer than the mark. A snooze that is
due returns by reading alone; nothing has to write for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Q, QuerySet

from crewlet.kernel import clock
from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import Invalid, Unavailable
from crewlet.kernel.refs import url_of
from crewlet.kernel.registry import Registry
from orgs import epochs
from orgs.access import unbound
from orgs.models.notices import InboxMark, Notice
from orgs.notices import REASONS
from orgs.queries.people import parties

PAGE = 50
LONGEST_PAGE = 200
SCOPES = ("unread", "all", "snoozed")


@dataclass(frozen=True, slots=True)
class InboxRow:
    """Something that waits on a person. `ref` is stable; `card` is the template that draws it."""

    kind: str
    ref: str
    title: str
    summary: str
    who: dict[str, Any]
    at: datetime
    reason: str
    url: str
    card: str = ""
    context: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class InboxSource:
    """One part of the product that asks people something."""

    name: str
    waiting: Callable[[Actor], list[InboxRow]]
    count: Callable[[Actor], int]


SOURCES: Registry[InboxSource] = Registry("inbox sources")


def inbox_page(
    actor: Actor,
    scope: str = "unread",
    cursor: str = "",
    limit: int = PAGE,
    reasons: Iterable[str] = (),
) -> dict[str, Any]:
    """Returns one page of the actor's own inbox, the newest first.

    `decisions` (waiting rows, on the first page), `days` (notices under the company's dates),
    `next` (a cursor or ""), `unread` (primary notices), `badge`, `through` (id of the newest loaded
    notice), `snooze` (choices), `hint` (what to do when no seat is held). Filters narrow the scan
    and not the page. Raises `Forbidden` (unbound) for a caller who is no person.
    """
    if actor.person_id is None:
        raise unbound(actor)
    now, zone = clock.now(), company_zone()
    chosen = _in_scope(notices_of(actor), scope, now)
    wanted = tuple(reasons)
    if wanted:
        chosen = chosen.filter(reason__in=wanted)
    rows = list(_after(chosen, cursor)[: _limit(limit) + 1])
    more, rows = len(rows) > _limit(limit), rows[: _limit(limit)]
    waiting = [] if cursor or wanted else _waiting(actor, scope, now)
    return {
        "scope": scope,
        "decisions": [_waiting_row(row) for row in waiting],
        "days": _by_day(rows, now.astimezone(zone).date(), zone),
        "next": _cursor(rows[-1]) if more else "",
        "unread": unread_count(actor, now),
        "badge": badge(actor),
        "through": str(rows[0].id) if rows else "",
        "snooze": snooze_choices(now, zone),
        "hint": "" if actor.seat_id else _no_seat(actor),
    }


def badge(actor: Actor) -> int | None:
    """Returns unread primary notices plus what waits; None for a caller without an inbox."""
    if actor.person_id is None:
        return None
    now = clock.now()
    aside = _set_aside(actor, now)
    waiting = (
        sum(len(_keep(source.waiting(actor), aside)) for source in SOURCES.values())
        if aside
        else sum(source.count(actor) for source in SOURCES.values())
    )
    return unread_count(actor, now) + waiting


def unread_count(actor: Actor, now: datetime) -> int:
    """Returns how many primary notices the actor has not read, snoozed ones apart."""
    return _in_scope(notices_of(actor), "unread", now).filter(primary=True).count()


def unread(actor: Actor, now: datetime) -> QuerySet[Notice]:
    """Returns the notices that the actor has neither read nor snoozed, the newest first."""
    return _in_scope(notices_of(actor), "unread", now)


def waiting_rows(actor: Actor, now: datetime) -> list[InboxRow]:
    """Returns what waits on the actor and is not set aside, the oldest first."""
    return _waiting(actor, "unread", now)


def notices_of(actor: Actor) -> QuerySet[Notice]:
    """Returns the notices of the person and of the seat they hold, the newest first."""
    mine = Q(person_id=actor.person_id)
    if actor.seat_id is not None:
        mine |= Q(seat_id=actor.seat_id)
    return Notice.objects.filter(mine).order_by("-at", "-id")


def company_zone() -> ZoneInfo:
    """Returns the company's clock, UTC while nothing is configured."""
    try:
        return epochs.active().timezone
    except Unavailable:
        return ZoneInfo("UTC")


def snooze_choices(now: datetime, zone: ZoneInfo) -> list[dict[str, Any]]:
    """Returns the moments until which a row may be put off, in the company's time."""
    return [
        {"id": name, "title": title, "until": snooze_until(name, now, zone)}
        for name, title in (
            ("1h", "In 1 hour"),
            ("tomorrow", "Tomorrow 09:00"),
            ("monday", "Monday 09:00"),
        )
    ]


def snooze_until(choice: str, now: datetime, zone: ZoneInfo) -> datetime:
    """Returns the instant of a choice or of an ISO time; raises `Invalid` for anything else."""
    if choice == "1h":
        return now + timedelta(hours=1)
    here = now.astimezone(zone)
    if choice in {"tomorrow", "monday"}:
        days = 1 if choice == "tomorrow" else 7 - here.weekday()
        day = here.date() + timedelta(days=days)
        return datetime(day.year, day.month, day.day, 9, tzinfo=zone)
    try:
        given = datetime.fromisoformat(choice)
    except ValueError:
        raise Invalid(
            f"'{choice}' is no time to snooze until. Use 1h, tomorrow, monday or an ISO time.",
            field="until",
        ) from None
    return given if given.tzinfo else given.replace(tzinfo=zone)


# -- parts of a page ------------------------------------------------------------------------------


def _in_scope(notices: QuerySet[Notice], scope: str, now: datetime) -> QuerySet[Notice]:
    if scope == "snoozed":
        return notices.filter(snoozed_until__gt=now)
    if scope not in SCOPES:
        raise Invalid(f"'{scope}' is no scope. Use {', '.join(SCOPES)}.", field="scope")
    awake = notices.filter(Q(snoozed_until=None) | Q(snoozed_until__lte=now))
    return awake.filter(read_at=None) if scope == "unread" else awake


def _limit(limit: int) -> int:
    return max(1, min(limit, LONGEST_PAGE))


def _cursor(notice: Notice) -> str:
    return f"{notice.at.isoformat()}~{notice.id}"


def _after(notices: QuerySet[Notice], cursor: str) -> QuerySet[Notice]:
    if not cursor:
        return notices
    at, _, ident = cursor.partition("~")
    try:
        moment, row = datetime.fromisoformat(at), UUID(ident)
    except ValueError:
        raise Invalid(
            "This cursor is not one of ours; start from the first page.", field="cursor"
        ) from None
    return notices.filter(Q(at__lt=moment) | Q(at=moment, id__lt=row))


def _waiting(actor: Actor, scope: str, now: datetime) -> list[InboxRow]:
    rows = [row for source in SOURCES.values() for row in source.waiting(actor)]
    aside = _set_aside(actor, now)
    kept = _keep(rows, aside)
    if scope == "snoozed":
        snoozed = {ref for ref, mark in aside.items() if mark.snoozed_until is not None}
        kept = [row for row in rows if row not in kept and row.ref in snoozed]
    return sorted(kept, key=lambda row: row.at)


def _set_aside(actor: Actor, now: datetime) -> dict[str, InboxMark]:
    marks = InboxMark.objects.filter(login=actor.login).filter(
        Q(snoozed_until__gt=now) | ~Q(done_at=None)
    )
    return {mark.ref: mark for mark in marks}


def _keep(rows: list[InboxRow], aside: dict[str, InboxMark]) -> list[InboxRow]:
    """Returns the rows that are not set aside; a row newer than its mark speaks again."""
    return [row for row in rows if row.ref not in aside or row.at > aside[row.ref].at]


def _waiting_row(row: InboxRow) -> dict[str, Any]:
    return asdict(row)


def _by_day(notices: list[Notice], today: date, zone: ZoneInfo) -> list[dict[str, Any]]:
    who = parties(notice.actor for notice in notices)
    days: list[dict[str, Any]] = []
    for notice in notices:
        day = notice.at.astimezone(zone).date()
        if not days or days[-1]["date"] != day:
            days.append({"date": day, "title": _day_title(day, today), "rows": []})
        days[-1]["rows"].append(_notice_row(notice, who))
    return days


def _day_title(day: date, today: date) -> str:
    if day == today:
        return "Today"
    return "Yesterday" if day == today - timedelta(days=1) else f"{day:%A}, {day.day} {day:%B %Y}"


def _notice_row(notice: Notice, who: dict[str, dict[str, str]]) -> dict[str, Any]:
    return {
        "id": str(notice.id),
        "ref": notice.ref,
        "title": notice.title,
        "body": notice.body,
        "who": who.get(notice.actor),
        "at": notice.at,
        "reason": REASONS.get(notice.reason, notice.reason.replace("_", " ").capitalize()),
        "reason_key": notice.reason,
        "kind": notice.kind,
        "url": url_of(notice.ref),
        "read": notice.read_at is not None,
        "primary": notice.primary,
        "snoozed_until": notice.snoozed_until,
    }


def _no_seat(actor: Actor) -> str:
    return (
        "You hold no seat, so agents cannot ask you anything. Somebody who manages people can give "
        f"you one: manage.py people bind {actor.login} <handle>."
    )
