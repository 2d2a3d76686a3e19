"""The company as it runs now, and as it ran in an epoch that a turn has pinned.

A snapshot never changes, so it is kept per process by its epoch; whether there is a newer one is
one indexed query, which no lost hint can spoil.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from types import MappingProxyType
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import connection
from pydantic import ValidationError

from crewlet.kernel.errors import ErrorCode, NotFound, Unavailable
from orgs.chart import Chart
from orgs.document.company import CompanyDocument
from orgs.models.company import Activation, Company, ConfigRevision
from orgs.models.seats import Seat

KEPT = 16


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One epoch of the company. `former` maps addresses that seats once had to today's."""

    epoch: int
    revision_id: UUID
    document: CompanyDocument
    chart: Chart
    timezone: ZoneInfo
    seat_ids: Mapping[str, UUID]
    handles: Mapping[UUID, str]
    former: Mapping[str, str] = field(default_factory=dict)


_cache: OrderedDict[int, Snapshot] = OrderedDict()
_lock = Lock()


def current() -> int | None:
    """Gives the epoch that runs now; None while no company was ever applied."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT max(id) FROM orgs_activation")
        row = cursor.fetchone()
    return int(row[0]) if row and row[0] is not None else None


def active_revision() -> ConfigRevision:
    """Gives the running revision; raises `no_active_revision` without one."""
    company = Company.objects.select_related("active_revision").filter(id=1).first()
    if company is None or company.active_revision is None:
        raise NotFound(
            "No company is set up yet: import one with `manage.py company import FILE`.",
            code=ErrorCode.NO_ACTIVE_REVISION,
        )
    return company.active_revision


def active() -> Snapshot:
    """Gives the company as it runs now; raises `Unavailable` (`unconfigured`) without one."""
    epoch = current()
    if epoch is None:
        raise Unavailable(
            "No company is set up yet: import one with `manage.py company import FILE`.",
            code=ErrorCode.UNCONFIGURED,
        )
    return snapshot(epoch)


def snapshot(epoch: int) -> Snapshot:
    """Gives an epoch's company, from this process's memory when it is there.

    Raises `NotFound` for an epoch that never was, `Unavailable` for a document that this version
    cannot read (a newer one wrote it).
    """
    with _lock:
        known = _cache.get(epoch)
        if known is not None:
            _cache.move_to_end(epoch)
            return known
    activation = Activation.objects.select_related("revision").filter(id=epoch).first()
    if activation is None:
        raise NotFound(f"There is no epoch {epoch}.")
    made = build(activation, activation.revision)
    with _lock:
        _cache[epoch] = made
        while len(_cache) > KEPT:
            _cache.popitem(last=False)
    return made


def build(activation: Activation, revision: ConfigRevision) -> Snapshot:
    """Makes an activation's snapshot without keeping it: its transaction may still end badly."""
    document = read_document(revision)
    seat_ids = {handle: UUID(seat) for handle, seat in activation.seat_ids.items()}
    return Snapshot(
        epoch=activation.id,
        revision_id=revision.id,
        document=document,
        chart=Chart.of(document),
        timezone=ZoneInfo(document.timezone),
        seat_ids=MappingProxyType(seat_ids),
        handles=MappingProxyType({seat: handle for handle, seat in seat_ids.items()}),
        former=MappingProxyType(_former(seat_ids)),
    )


def read_document(revision: ConfigRevision) -> CompanyDocument:
    """Reads a stored document by its shape alone: rules that came later do not block a repair."""
    try:
        return CompanyDocument.model_validate_json(json.dumps(revision.payload))
    except ValidationError as error:
        raise Unavailable(
            f"Revision {revision.id} was written by another version and cannot be read by this one."
        ) from error


def forget() -> None:
    """Empties this process's memory of epochs; nothing is lost but the reading."""
    with _lock:
        _cache.clear()


def _former(seat_ids: Mapping[str, UUID]) -> dict[str, str]:
    moved = Seat.objects.filter(id__in=list(seat_ids.values())).values_list("id", "origin_handle")
    handles: dict[Any, str] = {seat: handle for handle, seat in seat_ids.items()}
    return {old: handles[seat] for seat, old in moved if old not in seat_ids}
