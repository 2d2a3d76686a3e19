"""How many items of each project stand in which group, and the newest entry of its history.

Kept with every write instead of counted with every read. The row of a project is locked late, after
the project and its items and right before the change counter; whoever writes two projects at once
takes them in the order of their ids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Count

from tracker.models.history import Change
from tracker.models.items import WorkItem
from tracker.models.projects import Project, ProjectTally
from tracker.wakes import ChangeKind

COLUMNS = {"not_started": "todo", "active": "active", "done": "done", "closed": "closed"}
"""The group of an item → the column that counts it."""

_NOTE = """
INSERT INTO tracker_projecttally AS tally
  (project_id, todo, active, done, closed, last_change_at, last_actor, last_actor_name,
   last_actor_kind)
VALUES (%(project)s, %(todo)s, %(active)s, %(done)s, %(closed)s, %(at)s, %(actor)s, %(name)s,
  %(kind)s)
ON CONFLICT (project_id) DO UPDATE SET
  todo = tally.todo + EXCLUDED.todo, active = tally.active + EXCLUDED.active,
  done = tally.done + EXCLUDED.done, closed = tally.closed + EXCLUDED.closed,
  last_change_at = EXCLUDED.last_change_at, last_actor = EXCLUDED.last_actor,
  last_actor_name = EXCLUDED.last_actor_name, last_actor_kind = EXCLUDED.last_actor_kind
"""


def step(before: str | None, after: str | None, number: int = 1) -> Counter[str]:
    """Returns what `number` items add to the counts when they go from one group to another.

    None is an item that did not count before, or does not any more.
    """
    taken = Counter[str]()
    if before is not None:
        taken[COLUMNS[before]] -= number
    if after is not None:
        taken[COLUMNS[after]] += number
    return taken


def note(
    project_id: UUID, steps: Counter[str], *, at: datetime, actor: str, name: str, kind: str
) -> None:
    """Adds steps to a project's counts and notes its newest entry, in one statement."""
    with connection.cursor() as cursor:
        cursor.execute(
            _NOTE,
            {
                "project": project_id, "at": at, "actor": actor, "name": name, "kind": kind,
                **{column: steps[column] for column in COLUMNS.values()},
            },
        )  # fmt: skip


def recount(*, check: bool = False) -> list[dict[str, Any]]:
    """Counts every project anew and returns where the kept numbers were wrong, mended unless
    `check`.

    Writers of the moment wait or are waited for: whoever holds a row has not committed yet, and
    whoever comes later adds to what stands here.
    """
    with transaction.atomic():
        if not check:
            ProjectTally.objects.bulk_create(
                [ProjectTally(project=project) for project in Project.objects.filter(tally=None)],
                ignore_conflicts=True,
            )
        rows = ProjectTally.objects.select_related("project").order_by("project_id")
        if not check:
            rows = rows.select_for_update(of=("self",))
        kept = {row.project_id: row for row in rows}
        return list(_drift(kept, check=check))


def _drift(kept: dict[UUID, ProjectTally], *, check: bool) -> Iterator[dict[str, Any]]:
    there = WorkItem.objects.filter(removed_at=None).order_by()
    counts = there.values_list("project_id", "group").annotate(Count("pk"))
    true: dict[UUID, dict[str, int]] = {}
    for project_id, group, number in counts:
        true.setdefault(project_id, {})[COLUMNS[group]] = number
    for project in Project.objects.order_by("key"):
        row = kept.get(project.pk) or ProjectTally(project=project)
        right = dict.fromkeys(COLUMNS.values(), 0) | true.get(project.pk, {})
        wanted = {**right, **_newest(project)}
        wrong = {
            name: {"kept": getattr(row, name), "true": value}
            for name, value in wanted.items()
            if getattr(row, name) != value
        }
        if not wrong:
            continue
        if not check:
            for name, value in wanted.items():
                setattr(row, name, value)
            row.save()
        yield {"project": project.key, "wrong": wrong}


def _newest(project: Project) -> dict[str, Any]:
    found = (
        Change.objects.filter(project=project)
        .exclude(kind=ChangeKind.PROJECT_UPDATED)
        .order_by("-seq")
        .first()
    )
    if found is None:
        return {
            "last_change_at": None, "last_actor": "", "last_actor_name": "", "last_actor_kind": "",
        }  # fmt: skip
    return {
        "last_change_at": found.at,
        "last_actor": found.actor,
        "last_actor_name": found.actor_name,
        "last_actor_kind": found.actor_kind,
    }
