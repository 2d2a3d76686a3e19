"""`manage.py worker`: becomes a Celery worker, for seats or (`--duty`) for duties.

The process is replaced, not wrapped: signals, exit code and pid are Celery's own.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from crewlet.kernel.queue import DUTY_QUEUE, node_queue

WAKE_THREADS: Final = 2
"""A wake only pokes the host, so a handful of threads answers thousands of seats."""
DUTY_THREADS: Final = 4


class Command(BaseCommand):
    """Runs a worker of this node."""

    # The pages are no business of this process: web and `check` look at them.
    requires_system_checks = []
    help = "Runs a seat worker; with --duty the worker for duties."

    def add_arguments(self, parser: CommandParser) -> None:
        """Adds --duty."""
        parser.add_argument("--duty", action="store_true", help="do duties instead of seats")

    def handle(self, *args: Any, **options: Any) -> None:
        """Replaces this process by Celery; returns only when that fails."""
        argv = worker_argv(duty=options["duty"])
        sys.stdout.flush()
        os.execv(argv[0], argv)  # noqa: S606  # our own interpreter, fixed words


def worker_argv(*, duty: bool) -> list[str]:
    """Returns the command that runs a worker of this node."""
    node = settings.CREWLET.node_id
    queue, name = (DUTY_QUEUE, f"duty.{node}") if duty else (node_queue(node), node)
    return [
        *(sys.executable, "-m", "celery", "-A", "crewlet.celery", "--skip-checks", "worker"),
        *("-P", "threads", "-c", str(DUTY_THREADS if duty else WAKE_THREADS)),
        *("-Q", queue, "-n", name, "-l", settings.CREWLET.log_level.lower()),
        *("--without-gossip", "--without-mingle", "--without-heartbeat"),
    ]
