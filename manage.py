#!/usr/bin/env python
"""The command line: `manage.py <noun> <verb>`, `up`, `worker`, `beat`, `doctor`."""

from __future__ import annotations

import os
import sys
from importlib import import_module

from crewlet.environment import BadEnvironment

# Both are replaced by Celery at once, which sets Django up itself: doing that here as well would
# double the time a worker takes to start.
BECOME_CELERY = ("worker", "beat")


def main() -> int:
    """Runs one command; a bad environment variable is one line on stderr and exit code 2."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crewlet.settings")
    try:
        from django.core.management import execute_from_command_line
    except ImportError:
        sys.stderr.write(
            "Django is not installed here. Run `make run`, or activate .venv and try again.\n"
        )
        return 2
    try:
        if sys.argv[1:2] and sys.argv[1] in BECOME_CELERY:
            import_module(f"agents.management.commands.{sys.argv[1]}").Command().run_from_argv(
                sys.argv
            )
        else:
            execute_from_command_line(sys.argv)
    except BadEnvironment as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
