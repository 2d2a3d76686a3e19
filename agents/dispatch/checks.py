"""What the runtime tells the operator: alarms, parts of /health, and series."""

from __future__ import annotations

from typing import Any, Final

from django.db import connection

from agents.seats import presence
from crewlet.kernel.errors import Unavailable
from crewlet.ops.checks import ALARMS, HEALTH_PARTS, Finding, Severity
from crewlet.ops.metrics import SERIES, Series
from orgs import epochs

STUCK_SECONDS: Final = 120
UNMEASURED_HOURS: Final = 24

# Mail that a person or the budget holds back waits by somebody's will; the rest should move.
_STUCK: Final = """
SELECT count(*), extract(epoch FROM clock_timestamp() - min(d.created_at)),
       string_agg(DISTINCT s.handle, ', ')
FROM agents_delivery AS d
JOIN orgs_seat AS s ON s.id = d.seat_id AND s.removed_at IS NULL
LEFT JOIN agents_seatlease AS l ON l.seat_id = d.seat_id
LEFT JOIN agents_node AS n ON n.id = l.owner_id
WHERE d.turn_id IS NULL
  AND d.created_at < clock_timestamp() - make_interval(secs => %s)
  AND (n.id IS NULL OR n.ended_at IS NOT NULL OR n.expires_at < clock_timestamp())
  AND NOT EXISTS (SELECT 1 FROM agents_seathold AS h
                  WHERE h.seat_id = d.seat_id
                    AND (h.until IS NULL OR h.until > clock_timestamp()))
"""


def mail_stuck() -> Finding | None:
    """Mail waits for minutes at a seat that no live node holds, and nobody holds it back."""
    with connection.cursor() as cursor:
        cursor.execute(_STUCK, (STUCK_SECONDS,))
        letters, age, handles = cursor.fetchone()
    if not letters:
        return None
    return Finding(
        f"{letters} letters wait for {handles}, the oldest for {float(age):.0f} s",
        "No worker holds these seats. Look at `manage.py fleet show` and start a worker.",
        Severity.CRITICAL,
    )


def dead_letters() -> Finding | None:
    """There is mail that nobody could work and nobody has dealt with."""
    count = _number("SELECT count(*) FROM agents_deadletter WHERE handled_at IS NULL")
    if not count:
        return None
    return Finding(
        f"{count} dead letters",
        "`manage.py mail dead` shows them; replay or discard each.",
    )


def node_stale() -> Finding | None:
    """A node has missed its beats and nobody has ended it."""
    stale = [str(node["node"]) for node in presence.nodes() if node["stale"]]
    if not stale:
        return None
    return Finding(
        f"no beat from {', '.join(stale)}",
        "Its seats move by themselves. If the process is gone, `manage.py fleet end NODE`.",
    )


# The day is the company's, which may be a day apart from the database's; it is what is indexed.
_UNMEASURED: Final = """
SELECT count(*) FILTER (WHERE unobserved), count(*) FILTER (WHERE estimated),
       string_agg(DISTINCT provider_entry, ', ' ORDER BY provider_entry)
           FILTER (WHERE provider_entry <> '')
FROM agents_llmcall
WHERE day >= current_date - 2 AND ts > clock_timestamp() - make_interval(hours => %s)
  AND (unobserved OR estimated) AND NOT provider_entry = ANY(%s)
"""


def usage_unknown() -> Finding | None:
    """Models were asked whose vendor told no tokens: the counters may be below the bill."""
    with connection.cursor() as cursor:
        cursor.execute(_UNMEASURED, (UNMEASURED_HOURS, _rehearsals()))
        lost, estimated, entries = cursor.fetchone()
    if not lost and not estimated:
        return None
    named = f" ({entries})" if entries else ""
    return Finding(
        f"{lost + estimated} model calls of the last {UNMEASURED_HOURS} hours without a figure of "
        f"the vendor{named}: {lost} unknown, {estimated} estimated by length",
        "Budgets see less than the vendor bills. Compare with the vendor's own count, and let the "
        "model's server report its usage. A call that a lost worker had asked for stays unknown.",
    )


def _rehearsals() -> list[str]:
    # A rehearsal asks nobody, so nobody bills what it counts by length.
    try:
        entries = epochs.active().document.providers.llm
    except Unavailable:
        return []
    return [name for name, entry in entries.items() if entry.type.value == "rehearsal"]


def in_flight() -> int:
    """Returns the turns that run on live nodes."""
    return sum(int(node["in_flight"]) for node in presence.nodes() if not node["stale"])


_SEATS: Final = """
SELECT count(*),
       count(*) FILTER (WHERE n.ended_at IS NULL AND n.expires_at >= clock_timestamp())
FROM orgs_seat AS s
LEFT JOIN agents_seatlease AS l ON l.seat_id = s.id
LEFT JOIN agents_node AS n ON n.id = l.owner_id
WHERE s.kind = 'agent' AND s.removed_at IS NULL
"""


def seats() -> dict[str, Any]:
    """Returns how many agent seats there are and how many a live node holds."""
    with connection.cursor() as cursor:
        cursor.execute(_SEATS)
        total, held = cursor.fetchone()
    return {"total": int(total), "held": int(held), "waiting": int(total) - int(held)}


def _number(sql: str) -> float:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        row = cursor.fetchone()
    return float(row[0] or 0)


def _series(words: str, sql: str) -> Series:
    return Series(words, lambda: {(): _number(sql)})


def register() -> None:
    """Registers everything of this module."""
    ALARMS.register("mail_stuck", mail_stuck)
    ALARMS.register("dead_letters", dead_letters)
    ALARMS.register("node_stale", node_stale)
    ALARMS.register("usage_unknown", usage_unknown)
    HEALTH_PARTS.register("in_flight", in_flight)
    HEALTH_PARTS.register("seats", seats)
    SERIES.register(
        "inbox_depth",
        _series("Letters that wait.", "SELECT count(*) FROM agents_delivery WHERE turn_id IS NULL"),
    )
    SERIES.register(
        "inbox_oldest_age_seconds",
        _series(
            "Age of the oldest letter that waits.",
            "SELECT extract(epoch FROM clock_timestamp() - min(created_at)) "
            "FROM agents_delivery WHERE turn_id IS NULL",
        ),
    )
    SERIES.register(
        "dead_letters",
        _series(
            "Dead letters that nobody dealt with.",
            "SELECT count(*) FROM agents_deadletter WHERE handled_at IS NULL",
        ),
    )
    SERIES.register("turns_in_flight", Series("Turns that run.", lambda: {(): float(in_flight())}))
