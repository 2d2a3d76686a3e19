"""`manage.py up`: the whole company on one machine."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from crewlet.ops.embedded.errors import ServerProblem
from crewlet.ops.place import Place
from crewlet.ops.screen import Screen
from crewlet.ops.up import Up, UpOptions


class Command(BaseCommand):
    """Starts servers, web, workers and beat, and keeps them running until a signal."""

    help = "Runs all of Crewlet on this machine. Ctrl-C drains and stops; a second one kills."
    requires_system_checks: list[str] = []  # before any table exists

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="where web listens (8000)")
        parser.add_argument("--host", default="127.0.0.1", help="the address web listens on")
        parser.add_argument(
            "--no-demo", action="store_true", help="leave an empty store empty; the link makes you"
        )
        files = parser.add_mutually_exclusive_group()
        files.add_argument(
            "--seed-company", default="", metavar="FILE",
            help="the company document of an empty store, instead of the demo",
        )  # fmt: skip
        files.add_argument(
            "--import-company", default="", metavar="FILE",
            help="the company document at every start: what was changed here since is replaced",
        )  # fmt: skip
        parser.add_argument("--fresh", action="store_true", help="throw this install's data away")
        parser.add_argument(
            "--yes", action="store_true", help="answer yes to the question of --fresh"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        place = Place(settings.CREWLET.data_dir)
        try:
            place.lock()
            self._ensure_key(place)
            if options["fresh"]:
                self._confirm(place, yes=options["yes"])
            Up(
                settings.CREWLET,
                place,
                UpOptions(
                    host=options["host"],
                    port=options["port"],
                    demo=not options["no_demo"],
                    fresh=options["fresh"],
                    seed=options["seed_company"],
                    company=options["import_company"],
                ),
                Screen(),
            ).run()
        except ServerProblem as problem:
            raise CommandError(str(problem)) from None
        finally:
            place.unlock()

    def _ensure_key(self, place: Place) -> None:
        if os.environ.get("SECRET_KEY", "").strip():
            return
        place.ensure_key()
        if settings.CREWLET.secret_key:
            return
        # The settings were read before the key was there; reading them anew is a new start.
        place.unlock()
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - ourselves

    def _confirm(self, place: Place, *, yes: bool) -> None:
        if not settings.CREWLET.embedded_database:
            raise CommandError(
                "--fresh throws away the embedded database only, and DATABASE_URL names another. "
                "Drop that one yourself, or unset DATABASE_URL."
            )
        if yes or not place.has_data():
            return
        if not sys.stdin.isatty():
            raise CommandError("--fresh asks before it deletes; without a terminal add --yes.")
        answer = input(f"Delete the company and all its data in {place.folder}? Type yes: ")
        if answer.strip().lower() != "yes":
            raise CommandError("Nothing was deleted.")
