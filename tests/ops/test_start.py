"""What a process loads before it works: each start pays for it, and `up` starts five."""

from __future__ import annotations

import subprocess
import sys

import pytest

from crewlet.environment import BASE_DIR
from tests.support.processes import child_environment


def says(code: str) -> str:
    """Returns what a fresh interpreter prints that runs `code` beside `manage.py`."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=BASE_DIR,
        env={**child_environment(), "DJANGO_SETTINGS_MODULE": "crewlet.settings"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_protocol_of_assistants_is_loaded_by_who_answers_one_and_not_at_start() -> None:
    code = (
        "import sys, crewlet.asgi, crewlet.urls, crewlet.celery\n"
        "print(sorted({'mcp', 'mcp_types'} & set(sys.modules)))\n"
        "from importlib import import_module; from crewlet.doors.mcp import EXCHANGE\n"
        "import_module(EXCHANGE); print('mcp' in sys.modules)"
    )
    assert says(code).splitlines() == ["[]", "True"]


@pytest.mark.parametrize("command", ["worker", "beat"])
def test_a_command_that_becomes_celery_leaves_setting_django_up_to_it(command: str) -> None:
    code = (
        "import os, sys, manage\n"
        "from django.apps import apps\n"
        "os.execv = lambda path, argv: print(apps.ready, 'crewlet.celery' in argv)\n"
        f"sys.argv = ['manage.py', {command!r}]\n"
        "manage.main()"
    )
    assert says(code) == "False True"
