"""The pages of tokens: what room is left, what was used, and by whom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse

from agents.budgets import spend
from agents.queries import usage
from crewlet.console.pages import actor_of, draw, fragment, page
from crewlet.console.windows import day_words, window_of
from crewlet.console.words import said
from crewlet.kernel import clock
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant, require
from orgs import epochs

WINDOWS = {"today": "Today", "7d": "7 days", "30d": "30 days", "90d": "90 days"}
DEFAULT_WINDOW = "30d"
NAMES = {"day": "Today", "week": "This week", "month": "This month"}


@page
def overview(request: HttpRequest) -> HttpResponse:
    """Draws the windows of the company and what the chosen days used."""
    return draw(request, "agents/spend.html", _overview(request))


@fragment
def overview_body(request: HttpRequest) -> HttpResponse:
    """Draws the figures of the overview alone."""
    return draw(request, "agents/_spend_overview.html", _overview(request))


@page
def budgets(request: HttpRequest) -> HttpResponse:
    """Draws every window of every scope."""
    return draw(request, "agents/spend_budgets.html", _budgets(actor_of(request)))


@fragment
def budgets_body(request: HttpRequest) -> HttpResponse:
    """Draws the windows of every scope alone."""
    return draw(request, "agents/_spend_budgets.html", _budgets(actor_of(request)))


def sections(here: str) -> list[dict[str, Any]]:
    """Returns the tabs of Spend."""
    rows = (("Overview", "/spend"), ("Budgets", "/spend/budgets"))
    return [{"label": label, "url": url, "here": url == here, "count": None} for label, url in rows]


def window_face(window: spend.WindowUse) -> dict[str, Any]:
    """Returns a window as the pages draw it: with its name, its instant and what is over."""
    over = window.limit is not None and window.used > window.limit
    return {
        **window.as_json(),
        "name": NAMES[window.kind],
        "resets_at": window.resets_at,
        "refused_at": window.refused_at,
        "over": window.used - window.limit if over and window.limit is not None else None,
    }


def columns(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns a series as the columns of a chart."""
    keys = [band["key"] for band in found["bands"]]
    return [
        {
            "label": f"{bucket['start'].day} {bucket['start']:%b}",
            "values": [bucket["values"][key] for key in keys],
            "url": f"/spend?window={bucket['start']:%Y-%m-%d}",
        }
        for bucket in found["buckets"]
    ]


def _overview(request: HttpRequest) -> dict[str, Any]:
    require(actor_of(request), Grant.STATE_READ)
    tabs = sections("/spend")
    if epochs.current() is None:
        return {"tabs": tabs, "window": DEFAULT_WINDOW, "unset": True}
    snapshot, now = epochs.active(), clock.now()
    chosen = window_of(
        request.GET.get("window", ""), takes=WINDOWS, default=DEFAULT_WINDOW, now=now,
        zone=snapshot.timezone, whole_days=True,
    )  # fmt: skip
    span = usage.span_of(snapshot, now, since=chosen.first, until=chosen.last)
    found = usage.breakdown(snapshot, span, previous=True)
    by_day = usage.series(snapshot, span, group="phase")
    scopes = spend.readable(snapshot, now)
    today = {scope.handle: window_face(scope.windows[0]) for scope in scopes or []}
    return {
        "tabs": tabs,
        "window": chosen.key,
        "unset": False,
        "windows": WINDOWS,
        "company": [window_face(window) for window in scopes[0].windows] if scopes else None,
        "found": found,
        "day": day_words(span.last) if span.days == 1 else "",
        "other": "" if chosen.key in WINDOWS else chosen.words,
        "bands": [band["label"] for band in by_day["bands"]],
        "columns": columns(by_day),
        "scope": f"Tokens by phase, {_days(span.days)} to {day_words(span.last)}",
        "seats": [row | {"today": today.get(row["key"])} for row in found["by_seat"]],
        "splits": [
            ("By phase", "Phase", found["by_phase"]),
            ("By model", "Model", found["by_model"]),
            ("By provider entry", "Entry", found["by_provider"]),
            ("By unit", "Unit", found["by_unit"]),
        ],
        "delta": _delta(found),
        "bill": _beside_a_bill(found["total"]),
    }


def _beside_a_bill(total: Mapping[str, Any]) -> list[str]:
    """Says, with the figures of the days shown, why a vendor's bill reads otherwise."""
    lines = [
        "Tokens are counted here, never money: what goes in and what comes out, of each call, when "
        "its answer arrives. A plan with a flat price is counted and capped the same way.",
    ]
    if total["cache_read"]:
        share = round(100 * total["cache_read"] / max(1, total["tokens_in"] or 0))
        lines.append(
            f"{share} % of what went in was read from the vendor's cache. It counts in full "
            "here; vendors bill it for less."
        )
    if total["estimated_calls"]:
        lines.append(
            f"{said(total['estimated_calls'], 'call', 'calls')} came without a figure and "
            "counted by length, an estimate."
        )
    if total["unknown_calls"]:
        lines.append(
            f"{said(total['unknown_calls'], 'call was', 'calls were')} asked for and lost with a "
            "worker: the vendor bills that, and no figure here includes it."
        )
    lines.append(
        "A vendor's day ends at its own midnight, and its bill holds whatever else uses the key: "
        "other programs, tests of a provider, a playground."
    )
    return lines


def _days(count: int) -> str:
    return "1 day" if count == 1 else f"{count} days"


def _delta(found: Mapping[str, Any]) -> str:
    """Says how the span stands to the one before; nothing where either is unknown or empty."""
    before = found["previous"] and found["previous"]["total"]["tokens"]
    now = found["total"]["tokens"]
    if not before or now is None:
        return ""
    earlier = "the day before" if found["span"]["days"] == 1 else "in the days before"
    change = round((now - before) / before * 100)
    if not change:
        return f"as many as {earlier}"
    return f"{abs(change)} % {'more' if change > 0 else 'less'} than {earlier}"


def _budgets(actor: Actor) -> dict[str, Any]:
    require(actor, Grant.STATE_READ)
    tabs = sections("/spend/budgets")
    if epochs.current() is None:
        return {"tabs": tabs, "unset": True}
    snapshot = epochs.active()
    scopes = spend.readable(snapshot, clock.now())
    return {
        "tabs": tabs,
        "unset": False,
        "durable": scopes is not None,
        "zone": snapshot.timezone.key,
        "scopes": [
            {
                "name": scope.name,
                "url": f"/agents/seats/{scope.handle}" if scope.handle else "",
                "windows": [window_face(window) for window in scope.windows],
            }
            for scope in scopes or []
        ],
    }
