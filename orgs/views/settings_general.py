"""Settings, the company: what it is for, its clock, its ceilings."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict

from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import CrewletError, ErrorCode
from orgs import epochs


def general(actor: Actor, query: QueryDict) -> dict[str, Any]:
    """Returns the charter, the clock and the ceilings; `configured` is false without a company."""
    try:
        snapshot = epochs.active()
    except CrewletError as error:
        if error.code is not ErrorCode.UNCONFIGURED:
            raise
        return {"configured": False}
    document = snapshot.document
    budget = document.token_budget
    return {
        "configured": True,
        "epoch": snapshot.epoch,
        "document": document,
        "seats": len(snapshot.chart.seats),
        "units": len(snapshot.chart.units),
        "ceilings": [
            {"period": period, "limit": getattr(budget, period, None)}
            for period in ("day", "week", "month")
        ],
    }
