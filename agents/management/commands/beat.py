"""`manage.py beat`: becomes Celery's beat, which only ticks."""

from __future__ import annotations

import os
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand


class Command(BaseCommand):
    """Runs the clock of the company."""

    # The pages are no business of this process: web and `check` look at them.
    requires_system_checks = []
    help = "Sends the ticks by which duties are done; does nothing itself."

    def handle(self, *args: Any, **options: Any) -> None:
        """Replaces this process by Celery's beat; returns only when that fails."""
        argv = beat_argv()
        sys.stdout.flush()
        os.execv(argv[0], argv)  # noqa: S606  # our own interpreter, fixed words


def beat_argv() -> list[str]:
    """Returns the command that runs beat; no pid file, since the rows are what one beat shares."""
    return [
        *(sys.executable, "-m", "celery", "-A", "crewlet.celery", "--skip-checks", "beat"),
        *("-l", settings.CREWLET.log_level.lower(), "--pidfile="),
    ]
