"""Brings the tables up to date and shows how far it is; refuses data of a newer version."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState

from crewlet.environment import BASE_DIR
from crewlet.ops.embedded.errors import ServerProblem


class Progress(Protocol):
    """Shows one line that the next one replaces."""

    def __call__(self, line: str, *, last: bool) -> None: ...


def migrate(progress: Progress) -> int:
    """Applies what is missing and returns how many migrations that was.

    Raises ServerProblem when the database knows migrations that this version does not.
    """
    executor = MigrationExecutor(connection)
    _refuse_newer(executor)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if plan:
        call_command(
            "migrate", interactive=False, no_color=True, stdout=_Counter(progress, len(plan))
        )
        progress(f"tables are up to date ({len(plan)} migrations applied)", last=True)
    return len(plan)


def unapplied() -> int:
    """Returns how many migrations this version brings that the database has not seen."""
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def missing_operations() -> list[str]:
    """Returns what the models say and no migration does, one line each; asks no database."""
    loader = MigrationLoader(None)
    detector = MigrationAutodetector(loader.project_state(), ProjectState.from_apps(apps))
    changes = detector.changes(graph=loader.graph)
    # Django calls an app without a migrations package unmigrated and compares nothing.
    bare = [
        f"{config.label}: has models and no migrations"
        for config in apps.get_app_configs()
        if config.label in loader.unmigrated_apps
        and Path(config.path).is_relative_to(BASE_DIR)
        and ".venv" not in Path(config.path).parts
        and any(True for _model in config.get_models())
    ]
    return bare + [
        f"{app}: {operation.describe()}"
        for app, migrations in sorted(changes.items())
        for migration in migrations
        for operation in migration.operations
    ]


def _refuse_newer(executor: MigrationExecutor) -> None:
    loader = executor.loader
    ours = loader.migrated_apps
    unknown = sorted(
        f"{app}.{name}"
        for app, name in loader.applied_migrations
        if app in ours
        and (app, name) not in loader.disk_migrations
        and not _replaced(loader, app, name)
    )
    if unknown:
        raise ServerProblem(
            f"The database was written by a newer Crewlet: it has {', '.join(unknown[:3])}, which "
            "this version does not know. Update Crewlet, or restore an older backup."
        )


def _replaced(loader: object, app: str, name: str) -> bool:
    replacements = getattr(loader, "replacements", {})
    return any((app, name) in squashed.replaces for squashed in replacements.values())


class _Counter(io.StringIO):
    """Reads the migrate command's own lines and turns each into a step of the count."""

    def __init__(self, progress: Callable[..., None], total: int) -> None:
        super().__init__()
        self._progress = progress
        self._total = total
        self._done = 0

    def write(self, text: str) -> int:
        found = re.search(r"Applying (\S+)\.\.\.", text)
        if found:
            self._done += 1
            self._progress(f"tables {self._done}/{self._total} {found[1]}", last=False)
        return len(text)
