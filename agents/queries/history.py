"""What was: phases, events by hour and day, turns by seat and day. Each in one statement."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import connection
from django.db.models import Count, F, Q, Sum
from django.db.models.functions import TruncDay, TruncHour

from agents.models.mail import Delivery
from agents.models.turns import Turn
from agents.queries import rows
from agents.queries.rows import Row
from crewlet.kernel import clock
from crewlet.kernel.actors import Actor
from crewlet.kernel.cursors import read_cursor, write_cursor
from crewlet.kernel.models import EngineEvent

MAX_PHASES = 60
MAX_BUCKETS = 24 * 31
TURN_ENDS = ("completed", "sent_back", "failed", "skipped", "stopped")

_PHASES = """
SELECT p.id, p.phase, p.iteration, p.status, p.model, p.provider_key, p.error_kind, p.error,
    p.started_at, p.ended_at, p.max_rounds, t.id AS turn_id, t.work_item_key, s.handle, s.name,
    s.kind, sum.rounds, sum.tokens
FROM agents_phase p
JOIN agents_turn t ON t.id = p.turn_id
JOIN orgs_seat s ON s.id = t.seat_id
LEFT JOIN LATERAL (
    SELECT count(*) AS rounds, coalesce(sum(tokens_in + tokens_out), 0) AS tokens
    FROM agents_round WHERE phase_id = p.id
) sum ON true
"""


def phases(
    actor: Actor,
    *,
    seat: str = "",
    turn: UUID | None = None,
    phase: str = "",
    failed: bool | None = None,
    cursor: str = "",
    limit: int = MAX_PHASES,
) -> Row:
    """Returns a page of phases, newest first: `phases` and `next_cursor` (None at the end)."""
    clauses, params = ["true"], []
    for value, column in ((seat, "s.handle"), (turn, "p.turn_id"), (phase, "p.phase")):
        if value:
            clauses.append(f"{column} = %s")
            params.append(value)
    if failed is not None:
        clauses.append(f"p.error_kind {'<>' if failed else '='} ''")
    if cursor:
        # Ids are made in the order of time, so the primary key is the order of this list.
        clauses.append("p.id < %s")
        params.append(read_cursor(cursor)[1])
    limit = max(1, min(limit, MAX_PHASES))
    where = " AND ".join(clauses)
    found = [
        _phase(row)
        for row in _dicts(
            f"{_PHASES} WHERE {where} ORDER BY p.id DESC LIMIT %s", [*params, limit + 1]
        )
    ]
    page = found[:limit]
    more = len(found) > limit
    following = write_cursor(page[-1]["started_at"], page[-1]["id"]) if more else None
    return {"phases": page, "next_cursor": following}


def _phase(raw: Row) -> Row:
    ended = raw["ended_at"]
    return {
        "id": str(raw["id"]),
        "turn_id": str(raw["turn_id"]),
        "seat": rows.party(raw["handle"], raw["name"], raw["kind"]),
        "work_item": raw["work_item_key"] or None,
        "phase": raw["phase"],
        "iteration": raw["iteration"],
        "status": raw["status"],
        "model": raw["model"] or raw["provider_key"],
        "rounds": raw["rounds"],
        "max_rounds": raw["max_rounds"],
        "tokens": int(raw["tokens"]),
        "error_kind": raw["error_kind"],
        "error": raw["error"],
        "started_at": raw["started_at"],
        "ended_at": ended,
        "secs": rows.seconds(raw["started_at"], ended or clock.now()),
    }


def events_series(
    actor: Actor, *, bucket: str, since: datetime, until: datetime, zone: ZoneInfo
) -> list[Row]:
    """Returns how many events each hour or company day had, empty ones too, oldest first."""
    trunc = TruncHour("ts") if bucket == "hour" else TruncDay("ts", tzinfo=zone)
    counted = {
        row["at"]: row
        for row in EngineEvent.objects.filter(ts__gte=since, ts__lt=until)
        .annotate(at=trunc)
        .values("at")
        .annotate(count=Count("id"), failures=Count("id", filter=Q(failed=True)))
    }
    return [
        {
            "at": at,
            "count": counted[at]["count"] if at in counted else 0,
            "failed": counted[at]["failures"] if at in counted else 0,
        }
        for at in _buckets(bucket, since, until, zone)
    ]


def turns_series(
    actor: Actor,
    *,
    bucket: str,
    since: datetime,
    until: datetime,
    zone: ZoneInfo,
    seat: str = "",
    outcome: str = "",
    failed: bool | None = None,
) -> list[Row]:
    """Returns how the turns of each hour or company day ended, empty ones too, oldest first.

    A turn counts once, in the bucket in which it ended: a parked stretch of it is no end.
    """
    trunc = TruncHour("ended_at") if bucket == "hour" else TruncDay("ended_at", tzinfo=zone)
    wanted = Q(stage="done", ended_at__gte=since, ended_at__lt=until)
    if seat:
        wanted &= Q(seat__handle=seat)
    if outcome:
        wanted &= Q(outcome=outcome)
    if failed is not None:
        wanted &= Q(outcome="failed") if failed else ~Q(outcome="failed")
    counted = {
        row["at"]: row
        for row in Turn.objects.filter(wanted)
        .annotate(at=trunc)
        .values("at")
        .annotate(
            completed=Count("id", filter=Q(outcome="completed", iteration=1)),
            sent_back=Count("id", filter=Q(outcome="completed", iteration__gt=1)),
            failed=Count("id", filter=Q(outcome="failed")),
            skipped=Count("id", filter=Q(outcome="skipped")),
            stopped=Count("id", filter=Q(outcome="stopped")),
        )
    }
    empty = dict.fromkeys(TURN_ENDS, 0)
    return [{**counted.get(at, empty), "at": at} for at in _buckets(bucket, since, until, zone)]


def _buckets(bucket: str, since: datetime, until: datetime, zone: ZoneInfo) -> list[datetime]:
    found: list[datetime] = []
    if bucket == "hour":
        at = since.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
        while at < until and len(found) < MAX_BUCKETS:
            found.append(at)
            at += timedelta(hours=1)
        return found
    day = since.astimezone(zone).date()
    while len(found) < MAX_BUCKETS:
        at = datetime(day.year, day.month, day.day, tzinfo=zone)
        if at >= until:
            break
        found.append(at)
        day += timedelta(days=1)
    return found


def activity(actor: Actor, *, days: int, zone: ZoneInfo) -> list[Row]:
    """Returns the ended turns of every seat by company day; days without a turn are left out."""
    since = clock.now() - timedelta(days=days)
    found = (
        Turn.objects.filter(ended_at__gte=since, stage="done")
        .annotate(day=TruncDay("ended_at", tzinfo=zone))
        .values("day", handle=F("seat__handle"))
        .annotate(
            turns=Count("id"),
            failed=Count("id", filter=Q(outcome="failed")),
            tokens=Sum("tokens_in") + Sum("tokens_out"),
        )
        .order_by("handle", "day")
    )
    return [
        {
            "seat": row["handle"],
            "date": row["day"].date().isoformat(),
            "turns": row["turns"],
            "failed": row["failed"],
            "tokens": row["tokens"],
        }
        for row in found
    ]


def turns_by_seat(since: datetime) -> dict[str, int]:
    """Returns how many turns each seat began since an instant; seats without any are absent."""
    found = (
        Turn.objects.filter(started_at__gte=since)
        .values(handle=F("seat__handle"))
        .annotate(count=Count("id"))
    )
    return {row["handle"]: row["count"] for row in found}


def mail_by_seat() -> dict[str, int]:
    """Returns how many letters wait for each seat; seats without any are absent."""
    found = (
        Delivery.objects.filter(turn=None)
        .values(handle=F("seat__handle"))
        .annotate(count=Count("seq"))
    )
    return {row["handle"]: row["count"] for row in found}


_FIGURES = """
SELECT count(*) AS turns, count(*) FILTER (WHERE t.decision <> '' AND r.reviewed) AS reviewed,
    count(*) FILTER (WHERE r.reviewed AND t.outcome = 'completed' AND t.iteration = 1) AS first,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM t.ended_at - t.started_at))
        AS median,
    percentile_cont(0.9) WITHIN GROUP (ORDER BY extract(epoch FROM t.ended_at - t.started_at))
        AS p90
FROM agents_turn t JOIN orgs_seat s ON s.id = t.seat_id
CROSS JOIN LATERAL (
    SELECT EXISTS (SELECT 1 FROM agents_phase p WHERE p.turn_id = t.id AND p.phase = 'review'
        AND p.status = 'done') AS reviewed
) r
WHERE s.handle = %s AND t.stage = 'done' AND t.ended_at >= %s
"""


def figures(handle: str) -> Row:
    """Returns a seat's seven days of ended turns: count, pass rate and durations.

    `first_pass` is a percent of the turns that a review judged, None when none was; the durations
    are None when no turn ended.
    """
    (row,) = _dicts(_FIGURES, [handle, clock.now() - timedelta(days=7)])
    reviewed = row["reviewed"]
    return {
        "ended": row["turns"],
        "reviewed": reviewed,
        "first_pass": round(100 * row["first"] / reviewed) if reviewed else None,
        "median": None if row["median"] is None else int(row["median"]),
        "p90": None if row["p90"] is None else int(row["p90"]),
    }


def _dicts(sql: str, params: Sequence[Any]) -> list[Row]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, values, strict=True)) for values in cursor.fetchall()]
