"""Reads of the company: its chart, its document, its history. Plain data out."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from crewlet.kernel.errors import CrewletError, ErrorCode, NotFound
from orgs.chart import Chart, ChartSeat, ChartUnit, unit_at
from orgs.document.company import CHAIN_PHASES
from orgs.document.differences import differences
from orgs.document.fields import TokenBudget
from orgs.document.patches import (
    entity_in,
    identity_of,
    merge_patch,
    same_address,
    with_entity,
)
from orgs.document.problems import path_of
from orgs.document.secrets import masked
from orgs.document.variables import places_of
from orgs.epochs import Snapshot, active, active_revision, read_document
from orgs.models.company import Activation, ConfigRevision

BUILTIN_TOOLS = "builtin"


def org_view(*, with_config: bool, snapshot: Snapshot | None = None) -> dict[str, Any]:
    """Gives the charter, the clock, the tree and who leads whom (ORG-19).

    Model chains and tool sources are there only `with_config`; contacts, e-mail addresses and
    credentials never are. Raises `Unavailable` without a company.
    """
    shown = snapshot or active()
    document, chart = shown.document, shown.chart
    return {
        "epoch": shown.epoch,
        "revision_id": str(shown.revision_id),
        "name": document.name,
        "mission": document.mission,
        "vision": document.vision,
        "policies": list(document.policies),
        "timezone": document.timezone,
        "token_budget": _budget(document.token_budget),
        "units": [_unit(chart, u) for u in chart.walk_units() if u.parent is None],
        "seats": [_seat(shown, seat, with_config=with_config) for seat in chart.walk()],
        "projects": [
            {"key": owner.key, "unit": owner.unit, "seat": owner.seat, "lead": owner.lead}
            for owner in chart.projects().values()
        ],
        "cycles": [list(circle) for circle in chart.cycles],
    }


def _budget(budget: TokenBudget | None) -> dict[str, int | None]:
    chosen = budget or TokenBudget()
    return {"day": chosen.day, "week": chosen.week, "month": chosen.month}


def _unit(chart: Chart, unit: ChartUnit) -> dict[str, Any]:
    return {
        "key": unit.key,
        "name": unit.name,
        "type": unit.type,
        "purpose": unit.purpose,
        "goals": list(unit.goals),
        "lead": unit.lead,
        "lead_inherited": unit.lead_inherited,
        "channel": unit.channel,
        "project": unit.project,
        "space": unit.space,
        "members": list(unit.members),
        "children": [_unit(chart, chart.units[key]) for key in unit.children],
    }


def _seat(snapshot: Snapshot, seat: ChartSeat, *, with_config: bool) -> dict[str, Any]:
    role = seat.role
    seat_id = snapshot.seat_ids.get(seat.handle)
    shown: dict[str, Any] = {
        "handle": seat.handle,
        "seat_id": str(seat_id) if seat_id else None,
        "name": seat.name,
        "kind": seat.kind,
        "unit": seat.unit,
        "goal": seat.goal,
        "responsibilities": list(seat.responsibilities),
        "manages": list(seat.manages),
        "managers": list(seat.managers),
        "primary_manager": snapshot.chart.primary_manager(seat.handle),
        "leads": list(snapshot.chart.leads(seat.handle)),
        "project": snapshot.chart.home_project(seat.handle),
        "availability": role.availability if role else "",
        "token_budget": _budget(role.token_budget if role else None),
    }
    if with_config and seat.is_agent and role is not None:
        shown["chain"] = {phase: list(role.chain(phase)) for phase in CHAIN_PHASES}
        shown["tool_sources"] = [BUILTIN_TOOLS, *_servers(snapshot, seat)]
    return shown


def _servers(snapshot: Snapshot, seat: ChartSeat) -> list[str]:
    """Names the servers of tools that the document gives a seat: the shared ones, and those that
    the seat or its unit has variables for."""
    given: set[str] = set(seat.role.mcp_env if seat.role else ())
    if seat.unit is not None:
        given |= set(unit_at(snapshot.document, snapshot.chart.units[seat.unit].path).mcp_env)
    entries = snapshot.document.mcp_servers
    return [f"mcp:{entry.name}" for entry in entries if entry.shared or entry.name in given]


def derived(chart: Chart) -> dict[str, Any]:
    """Gives what the chart makes of a document, for a preview of its consequences."""
    return {
        "seats": {
            seat.handle: {
                "unit": seat.unit,
                "manages": list(seat.manages),
                "managers": list(seat.managers),
                "primary_manager": chart.primary_manager(seat.handle),
            }
            for seat in chart.walk()
        },
        "units": {
            unit.key: {
                "parent": unit.parent,
                "lead": unit.lead,
                "lead_inherited": unit.lead_inherited,
                "channel": unit.channel,
            }
            for unit in chart.walk_units()
        },
        "cycles": [list(circle) for circle in chart.cycles],
    }


def document_of(revision: ConfigRevision, *, redact: bool) -> dict[str, Any]:
    """Gives a stored document as plain data, in the order its models declare."""
    payload = read_document(revision).payload()
    return masked(payload) if redact else payload


def patched(patch: dict[str, Any], base: UUID | None) -> tuple[dict[str, Any], UUID]:
    """Gives the document with a merge patch laid over it, and the revision it was laid over.

    Raises `no_active_revision` without a company, `NotFound` for a `base` that is none.
    """
    revision = revision_named(base) if base else active_revision()
    return merge_patch(document_of(revision, redact=False), patch), revision.id


def entity(kind: str, address: str) -> tuple[dict[str, Any], UUID]:
    """Gives one entity of the running document, secrets hidden, and its revision.

    Raises `no_such_entity`.
    """
    revision = active_revision()
    found = entity_in(document_of(revision, redact=True), kind, address)
    if found is None:
        raise _no_such(kind, address)
    return found, revision.id


def with_part(
    kind: str, address: str, part: dict[str, Any], base: UUID | None, *, create: bool
) -> tuple[dict[str, Any], UUID]:
    """Gives the document with one entity replaced, or put in where `create` asks for it.

    Raises `no_such_entity`, `identity_mismatch` for an entity that names another address, and
    `precondition_failed` for one that is there and was to be created.
    """
    named = identity_of(kind, part)
    if named is not None and not same_address(kind, named, address):
        raise CrewletError(
            "An entity keeps its address here: send it under the address it names, or rename it "
            "in the whole document.",
            code=ErrorCode.IDENTITY_MISMATCH,
        )
    revision = revision_named(base) if base else active_revision()
    document = document_of(revision, redact=False)
    there = entity_in(document, kind, address) is not None
    if there and create:
        raise CrewletError(
            f"There is {kind}/{address} already: send the change without If-None-Match.",
            code=ErrorCode.PRECONDITION_FAILED,
            reason="already_there",
        )
    if not there and not create:
        raise _no_such(kind, address)
    return with_entity(document, kind, address, part), revision.id


def _no_such(kind: str, address: str) -> CrewletError:
    return CrewletError(
        f"The company has no {kind}/{address}: GET /api/v1/config shows what it has.",
        code=ErrorCode.NO_SUCH_ENTITY,
    )


def reference_index() -> dict[str, Any]:
    """Gives each `${NAME}` of the running document with the paths that use it (ORG-135)."""
    revision = active_revision()
    index = places_of(document_of(revision, redact=False))
    return {
        "revision_id": str(revision.id),
        "references": [
            {"name": name, "paths": [path_of(place) for place in index[name]]}
            for name in sorted(index)
        ],
    }


def revision_named(revision_id: UUID) -> ConfigRevision:
    """Gives a stored revision; raises `NotFound`."""
    found = ConfigRevision.objects.filter(id=revision_id).first()
    if found is None:
        raise NotFound(f"There is no revision {revision_id}: see `company revisions`.")
    return found


def revisions(*, limit: int = 50, before: UUID | None = None) -> list[dict[str, Any]]:
    """Lists stored revisions, the newest first, with the epochs in which each was live."""
    listed = ConfigRevision.objects.order_by("-id")
    if before is not None:
        listed = listed.filter(id__lt=before)
    rows = list(listed.prefetch_related("activations")[:limit])
    latest = Activation.objects.order_by("-id").values_list("revision_id", flat=True).first()
    return [revision_row(row, active=row.id == latest) for row in rows]


def revision_row(row: ConfigRevision, *, active: bool) -> dict[str, Any]:
    """Gives a revision without its payload."""
    return {
        "id": str(row.id),
        "parent": str(row.parent_id) if row.parent_id else None,
        "summary": row.summary,
        "source": row.source,
        "author": row.author,
        "author_kind": row.author_kind,
        "credential": row.credential,
        "created_at": row.created_at.isoformat(),
        "sha256": row.sha256,
        "epochs": sorted(activation.id for activation in row.activations.all()),
        "active": active,
    }


def revision_detail(revision_id: UUID) -> dict[str, Any]:
    """Gives a stored revision with its document, secrets hidden; raises `NotFound`."""
    row = revision_named(revision_id)
    latest = Activation.objects.order_by("-id").values_list("revision_id", flat=True).first()
    shown = revision_row(row, active=row.id == latest)
    return {**shown, "document": document_of(row, redact=True)}


def revision_diff(revision_id: UUID, against: UUID | None = None) -> dict[str, Any]:
    """Tells what a revision changed against another one, secrets hidden; raises `NotFound`.

    Without `against` it is compared with the one it was made from; the first with nothing.
    """
    row = revision_named(revision_id)
    base_id = against or row.parent_id
    base = revision_named(base_id) if base_id else None
    before = document_of(base, redact=False) if base else {}
    found = differences(before, document_of(row, redact=False))
    return {
        "revision_id": str(row.id),
        "against": str(base.id) if base else None,
        "differences": [item.as_json() for item in found],
    }
