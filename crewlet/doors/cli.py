"""The command door: `manage.py <noun> <verb>`, all with `--json`, all with an exit code."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from crewlet.kernel.actions import Door, Result, perform
from crewlet.kernel.actors import Actor, ActorKind
from crewlet.kernel.authority import ALL_GRANTS
from crewlet.kernel.errors import CrewletError, body, exit_code_of


def operator() -> Actor:
    """Returns the operator at this terminal: who reaches the shell has every grant."""
    return Actor(
        kind=ActorKind.MACHINE,
        login="operator:shell",
        name="Operator (shell)",
        grants=ALL_GRANTS,
        credential="shell",
    )


def act(name: str, args: dict[str, Any], *, op_id: str | None = None) -> Result:
    """Does an action as the operator; raises its refusal."""
    return perform(operator(), name, args, op_id=op_id, door=Door.CLI).unwrap()


@dataclass(slots=True)
class Verb:
    """One verb of a noun: its help, how it reads its options, and what it does.

    `run` returns the answer as JSON; `words` renders it for a person.
    """

    help: str
    run: Callable[[dict[str, Any]], Any]
    words: Callable[[Any], str] = field(default=lambda answer: json.dumps(answer, indent=2))
    options: Callable[[CommandParser], None] = field(default=lambda parser: None)


class NounCommand(BaseCommand):
    """A noun with verbs. Subclasses give `verbs`."""

    verbs: dict[str, Verb]

    def add_arguments(self, parser: CommandParser) -> None:
        """Adds one sub-parser a verb, each with --json."""
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
        for name, verb in self.verbs.items():
            sub = verbs.add_parser(name, help=verb.help, description=verb.help)
            sub.add_argument("--json", action="store_true", help="answer as JSON")
            verb.options(sub)

    def handle(self, *args: Any, **options: Any) -> None:
        """Runs the verb; a refusal is told on stderr and exits with its code."""
        verb = self.verbs[options["verb"]]
        try:
            answer = verb.run(options)
        except CrewletError as error:
            if options["json"]:
                self.stdout.write(json.dumps(body(error), default=str))
            else:
                self.stderr.write(error.message)
            sys.exit(exit_code_of(error.code))
        if options["json"]:
            self.stdout.write(json.dumps(answer, default=str))
        else:
            self.stdout.write(verb.words(answer))
