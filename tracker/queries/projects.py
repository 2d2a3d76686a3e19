"""The directory of projects: which there are, how much of their work is open, who moved last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce

from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import Invalid, NotFound
from crewlet.kernel.nearest import nearest
from tracker.models.projects import Project, ProjectTally
from tracker.queries.rows import seat_party

ARCHIVED = ("false", "only", "true")
SORTS = {
    "key": "key", "name": "name", "unit": "unit_name", "open": "open", "done": "done",
    "closed": "closed", "last_change": "tally__last_change_at",
}  # fmt: skip
"""What the directory can be sorted by → the column."""
WORDS = {
    "archived": "false leaves archived projects out, only shows just them, true shows all",
    "q": "a piece of the key, the name or the purpose",
    "unit": "a unit by id or name",
    "sort": f"{', '.join(SORTS)}; - turns it round; empty values come last",
}


@dataclass(frozen=True, slots=True)
class Directory:
    """One answer of the directory: the rows, how many match, how many there are at all."""

    rows: list[dict[str, Any]]
    census: dict[str, int]


def directory(actor: Actor, query: Mapping[str, str]) -> Directory:
    """Returns the projects that a query names; raises `Invalid` naming a key or value it lacks."""
    for name in query:
        if name not in WORDS:
            raise Invalid(
                f"{name}: the directory has no such filter. There are: {', '.join(WORDS)}.",
                field=name,
                allowed=list(WORDS),
            )
    found = _narrowed(_rows(), query)
    archived = Project.objects.exclude(archived_at=None).count()
    return Directory(
        [project_row(row) for row in found.order_by(*_order(query.get("sort", "") or "key"))],
        {"active": Project.objects.count() - archived, "archived": archived},
    )


def _narrowed(found: QuerySet[Project], query: Mapping[str, str]) -> QuerySet[Project]:
    archived = query.get("archived", "") or "false"
    if archived not in ARCHIVED:
        raise Invalid(
            f"archived: {archived!r} is none of {', '.join(ARCHIVED)}.",
            field="archived",
            allowed=list(ARCHIVED),
        )
    if archived != "true":
        found = found.filter(archived_at__isnull=archived == "false")
    if words := query.get("q", "").strip():
        found = found.filter(
            Q(name__icontains=words) | Q(purpose__icontains=words) | Q(key__istartswith=words)
        )
    if unit := query.get("unit", "").strip():
        found = found.filter(Q(unit_key__iexact=unit) | Q(unit_name__iexact=unit))
    return found


def _order(sort: str) -> tuple[Any, ...]:
    name = sort.removeprefix("-")
    if name not in SORTS:
        hint = nearest(name, SORTS)
        raise Invalid(
            f"sort: the directory is not sorted by {name!r}."
            + (f" Did you mean {hint}?" if hint else "")
            + f" There are: {', '.join(SORTS)}.",
            field="sort",
            allowed=list(SORTS),
        )
    column = F(SORTS[name])
    down = sort.startswith("-")
    ordered = column.desc(nulls_last=True) if down else column.asc(nulls_last=True)
    return (ordered, "key")


def _rows() -> QuerySet[Project]:
    return Project.objects.select_related(
        "owner_seat", "lead", "default_assignee", "tally"
    ).annotate(
        open=Coalesce(F("tally__todo") + F("tally__active"), 0),
        done=Coalesce(F("tally__done"), 0),
        closed=Coalesce(F("tally__closed"), 0),
    )


def projects(actor: Actor) -> list[dict[str, Any]]:
    """Returns every project that is not archived, with its kept counts, by key. One statement."""
    return [project_row(row) for row in _rows().filter(archived_at=None).order_by("key")]


def project(actor: Actor, key: str) -> dict[str, Any]:
    """Returns one project with its kept counts; raises `NotFound` naming the key."""
    found = _rows().filter(key=key.upper()).first()
    if found is None:
        raise NotFound(f"There is no project {key!r}.", field="project")
    return project_row(found)


def project_row(row: Project) -> dict[str, Any]:
    """Returns a project as every page and answer shows it; a left one keeps its unit's name."""
    left = row.left_chart_at is not None
    tally = getattr(row, "tally", None) or ProjectTally(project=row)
    counts = {name: getattr(tally, name) for name in ("todo", "active", "done", "closed")}
    return {
        "key": row.key,
        "name": row.name,
        "purpose": row.purpose,
        "unit": "left the chart" if left else (row.unit_name or row.name),
        "unit_key": row.unit_key,
        "lead": seat_party(row.lead),
        "default_assignee": seat_party(row.default_assignee),
        "url": f"/work/{row.key}",
        "open": counts["todo"] + counts["active"],
        "counts": counts,
        "left": left,
        "archived": row.archived_at is not None,
        "last_change": _last_change(tally),
    }


def _last_change(tally: ProjectTally) -> dict[str, Any] | None:
    if tally.last_change_at is None:
        return None
    return {
        "at": tally.last_change_at,
        "actor": tally.last_actor,
        "actor_name": tally.last_actor_name,
        "actor_kind": tally.last_actor_kind,
    }
