"""`manage.py doctor`: what this install stands on, one line a check, and what to do about it."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from crewlet.ops.diagnosis import Verdict, examine


class Command(BaseCommand):
    """Prints every check; exit code 1 when one of them stops Crewlet from running."""

    help = "Examines the environment, the data folder, Postgres, Redis and the company."
    requires_system_checks: list[str] = []  # the doctor asks by itself

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object")

    def handle(self, *_args: Any, **options: Any) -> None:
        found = examine()
        if options["json"]:
            self.stdout.write(json.dumps({"checks": [check.as_json() for check in found]}))
        else:
            for check in found:
                style = {
                    Verdict.FINE: self.style.SUCCESS,
                    Verdict.NOTE: self.style.WARNING,
                    Verdict.WRONG: self.style.ERROR,
                }[check.verdict]
                self.stdout.write(f"{style(f'{check.verdict:<5}')} {check.name}: {check.words}")
        if any(check.verdict is Verdict.WRONG for check in found):
            raise SystemExit(1)
