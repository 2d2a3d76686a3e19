"""`manage.py migrations check`: whether the migrations say all that the models say."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from crewlet.ops.migrating import missing_operations


class Command(BaseCommand):
    """Compares models and migrations without a database, unlike `makemigrations --check`."""

    requires_system_checks: list[str] = []  # addresses do not matter
    help = "Fails when a model has changed and no migration says so."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("verb", choices=["check"])

    def handle(self, *_args: Any, **_options: Any) -> None:
        missing = missing_operations()
        if missing:
            listed = "\n".join(f"  {line}" for line in missing)
            raise CommandError(
                f"Models changed without a migration; run manage.py makemigrations:\n{listed}"
            )
        self.stdout.write("Migrations say what the models say.")
