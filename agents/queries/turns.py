"""Turns: running, parked, recent, and one in full."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, Q, Sum
from django.db.models.functions import TruncHour

from agents.models.turns import Phase, Round, SteerNote, StopRequest, ToolCall, Turn
from agents.queries import rows, waits
from agents.queries.cursors import read_number_cursor, write_number_cursor
from agents.queries.rows import Row
from agents.queries.sizes import prompt_size, said
from crewlet.kernel import clock
from crewlet.kernel.actors import Actor
from crewlet.kernel.cursors import read_cursor, write_cursor
from crewlet.kernel.errors import NotFound

RUNNING = ("context", "phase")
MAX_PAGE = 100
SORTS = ("-started", "started", "-tokens", "tokens")


def running_turns(actor: Actor) -> list[Row]:
    """Returns the turns that run now, the longest running first."""
    return rows.select("t.stage IN ('context', 'phase')", (), "ORDER BY t.started_at")


def parked_turns(actor: Actor) -> list[Row]:
    """Returns the turns that wait on a budget or a provider."""
    return rows.select("t.stage = 'parked'", (), "ORDER BY t.started_at")


def recent_turns(
    actor: Actor,
    *,
    seat: str = "",
    outcome: str = "",
    stage: str = "",
    item: str = "",
    work_key: str = "",
    conversation: str = "",
    failed: bool | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    ended: tuple[datetime, datetime] | None = None,
    sort: str = SORTS[0],
    cursor: str = "",
    limit: int = 30,
) -> Row:
    """Returns a page of turns: `turns`, `next` (empty at the end) and `total`.

    `since` and `until` bound when they began, `ended` when they ended. `sort` is one of `SORTS`: by
    when they began or by tokens, `-` from much to little.
    """
    clauses: list[str] = ["true"]
    params: list[Any] = []
    for value, clause in (
        (seat, "s.handle = %s"),
        (outcome, "t.outcome = %s"),
        (stage, "t.stage = %s"),
        (item.upper(), "t.work_item_key = %s"),
        (work_key, "t.work_key = %s"),
        (conversation, "t.conversation = %s"),
        (since, "t.started_at >= %s"),
        (until, "t.started_at < %s"),
        (ended and ended[0], "t.ended_at >= %s"),
        (ended and ended[1], "t.ended_at < %s"),
    ):
        if value:
            clauses.append(clause)
            params.append(value)
    if failed is not None:
        clauses.append(f"t.outcome {'=' if failed else '<>'} 'failed'")
    total = rows.count(" AND ".join(clauses), params)
    dear = sort.endswith("tokens")
    way, beyond = ("DESC", "<") if sort.startswith("-") else ("ASC", ">")
    order = "t.tokens_in + t.tokens_out" if dear else "t.started_at"
    if cursor:
        clauses.append(f"({order}, t.id) {beyond} (%s, %s)")
        params.extend(read_number_cursor(cursor) if dear else read_cursor(cursor))
    limit = max(1, min(limit, MAX_PAGE))
    found = rows.select(
        " AND ".join(clauses),
        [*params, limit + 1],
        f"ORDER BY {order} {way}, t.id {way} LIMIT %s",
    )
    page = found[:limit]
    return {
        "turns": page,
        "next": _next(page, dear=dear) if len(found) > limit else "",
        "total": total,
    }


def _next(page: list[Row], *, dear: bool) -> str:
    last = page[-1]
    if dear:
        return write_number_cursor(last["tokens_in"] + last["tokens_out"], last["id"])
    return write_cursor(last["started_at"], last["id"])


def turns_of_item(actor: Actor, key: str) -> list[Row]:
    """Returns the newest 50 turns that are charged to an item, oldest of them first."""
    found = rows.select("t.work_item_key = %s", (key,), "ORDER BY t.started_at DESC LIMIT 50")
    return found[::-1]


def live_of_items(keys: Iterable[str]) -> dict[str, Row]:
    """Returns what runs on each of these items now."""
    wanted = sorted(set(keys))
    if not wanted:
        return {}
    found = rows.select(
        "t.stage IN ('context', 'phase') AND t.work_item_key = ANY(%s)", (wanted,), ""
    )
    return {
        row["work_item"]: {
            "turn_id": row["id"],
            "who": row["seat"],
            "text": progress_words(row).capitalize(),
            "secs": row["secs"],
        }
        for row in found
    }


def progress_words(row: Row) -> str:
    """Returns where a turn stands: `execute, round 3 of 24`."""
    if row["stage"] == "context" or not row["phase"]:
        return "reading the situation"
    if not row["round"]:
        return str(row["phase"])
    return f"{row['phase']}, round {row['round']} of {row['max_rounds']}"


def turn_detail(actor: Actor, turn_id: UUID | str) -> Row:
    """Returns one turn with its phases, rounds, calls, prompts and notes."""
    try:
        wanted = UUID(str(turn_id))
    except ValueError as error:
        raise NotFound(f"There is no turn '{turn_id}'.") from error
    turn = Turn.objects.filter(id=wanted).first()
    if turn is None:
        raise NotFound(f"There is no turn '{turn_id}'.")
    (row,) = rows.select("t.id = %s", (wanted,), "")
    notes = list(SteerNote.objects.filter(turn=turn).order_by("at"))
    stop = StopRequest.objects.filter(turn=turn).first()
    phases = _phases(turn, notes)
    reads = [r for phase in phases for r in phase.pop("_cache_reads") if r is not None]
    return row | {
        "trigger": _trigger(turn),
        "constituents": turn.constituents,
        "reply_kind": turn.reply_kind,
        "reply_surface": turn.reply_surface,
        "result": turn.result,
        "correction": turn.correction,
        "cache_read": sum(reads) if reads else None,
        "node_lost": turn.node_lost,
        "epoch": turn.epoch,
        "trace": str(turn.trigger.get("trace") or ""),
        "depth": turn.depth,
        "stop_request": stop and {"by": stop.by, "at": stop.at, "reason": stop.reason},
        "notes": [_note(note) for note in notes],
        "waits": waits.of_turn(turn.id),
        "phases": phases,
        "attempts": [
            {"id": str(other.id), "attempt": other.attempt, "outcome": other.outcome or None}
            for other in Turn.objects.filter(work_key=turn.work_key).order_by("started_at")
        ],
    }


def _trigger(turn: Turn) -> Row:
    trigger = turn.trigger
    sender = trigger.get("sender") or {}
    by = None
    if sender.get("handle"):
        by = rows.authors([sender["handle"]])[sender["handle"]]
    return {
        "text": trigger.get("text", ""),
        "summary": trigger.get("summary", ""),
        "kind": trigger.get("type", ""),
        "by": by,
        "at": trigger.get("timestamp"),
        "url": rows.item(turn.work_item_key, "")["url"] if turn.work_item_key else "",
    }


def _note(note: SteerNote) -> Row:
    return {
        "id": str(note.id),
        "by": note.by,
        "at": note.at,
        "note": note.note,
        "state": note.state,
        "phase": note.phase,
        "iteration": note.iteration,
        "round": note.round,
    }


def _phases(turn: Turn, notes: list[SteerNote]) -> list[Row]:
    phases = list(Phase.objects.filter(turn=turn).order_by("started_at"))
    rounds: dict[UUID, list[Round]] = defaultdict(list)
    for found in Round.objects.filter(phase__in=phases).defer("answer").order_by("n"):
        rounds[found.phase_id].append(found)
    calls: dict[UUID, list[ToolCall]] = defaultdict(list)
    for call in ToolCall.objects.filter(round__phase__in=phases).order_by("ord"):
        calls[call.round_id].append(call)
    steered = defaultdict(list)
    for note in notes:
        steered[(note.phase, note.iteration, note.round)].append(_note(note))
    corrections = dict(turn.iterations.values_list("n", "engine_correction"))
    return [
        _phase_row(phase, rounds[phase.id], calls, steered)
        | {"engine_correction": corrections.get(phase.iteration, "")}
        for phase in phases
    ]


def _phase_row(
    phase: Phase,
    rounds: list[Round],
    calls: dict[UUID, list[ToolCall]],
    steered: dict[Any, list[Row]],
) -> Row:
    submission = phase.submission if isinstance(phase.submission, dict) else None
    return {
        "id": str(phase.id),
        "phase": phase.phase,
        "iteration": phase.iteration,
        "status": phase.status,
        "model": phase.model,
        "provider_key": phase.provider_key,
        "started_at": phase.started_at,
        "ended_at": phase.ended_at,
        "max_rounds": phase.max_rounds,
        "round_ceiling": phase.round_ceiling,
        "host_round": phase.host_round,
        "rescued": phase.rescued,
        "error_kind": phase.error_kind,
        "error": phase.error,
        "submission": submission,
        "system": phase.system,
        "system_outline": phase.system_outline,
        "user": phase.user,
        "user_outline": phase.user_outline,
        "tools": phase.tools,
        "prompt_size": _size(phase, rounds, calls),
        "tokens_in": sum(r.tokens_in for r in rounds),
        "tokens_out": sum(r.tokens_out for r in rounds),
        "verdict": submission if phase.phase == "review" else None,
        "rounds": [
            _round_row(r, calls[r.id], steered[(phase.phase, phase.iteration, r.n)]) for r in rounds
        ],
        "_cache_reads": [r.cache_read for r in rounds],
    }


def _size(phase: Phase, rounds: list[Round], calls: dict[UUID, list[ToolCall]]) -> dict[str, int]:
    """Returns the sizes of the newest answered request: it carried every round before."""
    earlier = (
        (r.content, [(call.args_text, call.result) for call in calls[r.id]], r.heard + r.note)
        for r in rounds[:-1]
    )
    return prompt_size(phase.system, phase.user, said(earlier), phase.tools)


def _round_row(found: Round, calls: list[ToolCall], steer: list[Row]) -> Row:
    return {
        "n": found.n,
        "started_at": found.started_at,
        "ms": found.ms,
        "stop_reason": found.stop_reason,
        "model": found.model,
        "provider_key": found.provider_key,
        "reasoning": found.reasoning,
        "content": found.content,
        "declined": found.declined,
        "tokens_in": found.tokens_in,
        "tokens_out": found.tokens_out,
        "note": found.note,
        "steer": steer,
        "calls": [
            {
                "ord": call.ord,
                "name": call.name,
                "server": call.server,
                "args": call.args,
                "args_text": call.args_text,
                "status": call.status,
                "ok": call.ok,
                "denied": call.status == "done" and call.ok is None,  # a person said no
                "result": call.result,
                "refs": call.refs,
                "ms": call.ms,
                "started_at": call.started_at,
            }
            for call in calls
        ],
    }


def turn_hours(actor: Actor, now: datetime) -> list[Row]:
    """Returns the last 24 hours of ended turns, oldest hour first; stopped ones count nowhere."""
    since = now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=23)
    found = (
        Turn.objects.filter(ended_at__gte=since)
        .annotate(hour=TruncHour("ended_at"))
        .values("hour")
        .annotate(
            failed=Count("id", filter=Q(outcome="failed")),
            sent_back=Count("id", filter=Q(outcome="completed", iteration__gt=1)),
            completed=Count("id", filter=Q(outcome="completed", iteration=1)),
            skipped=Count("id", filter=Q(outcome="skipped")),
        )
    )
    by_hour: dict[Any, Row] = {entry["hour"]: dict(entry) for entry in found}
    empty = {"completed": 0, "sent_back": 0, "failed": 0, "skipped": 0}
    hours = [since + timedelta(hours=n) for n in range(24)]
    return [
        {"at": hour} | {name: by_hour.get(hour, empty)[name] for name in empty} for hour in hours
    ]


def seat_stats(handle: str) -> Row:
    """Returns the figures of a seat's last seven days."""
    since = clock.now() - timedelta(days=7)
    figures = Turn.objects.filter(seat__handle=handle, started_at__gte=since).aggregate(
        turns_7d=Count("id"),
        completed_7d=Count("id", filter=Q(outcome="completed")),
        failed_7d=Count("id", filter=Q(outcome="failed")),
        sent_back_7d=Count("id", filter=Q(iteration__gt=1)),
        tokens_7d=Sum("tokens_in", default=0) + Sum("tokens_out", default=0),
    )
    return dict(figures)
