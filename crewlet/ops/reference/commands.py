"""The page of commands, from the parsers of our own management commands."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from django.apps import apps
from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand, DjangoHelpFormatter

from crewlet.environment import BASE_DIR
from crewlet.ops.reference.markdown import table

# Every Django command has these; `manage.py help` tells them.
DJANGOS = frozenset(DjangoHelpFormatter.show_last) | {"--help"}


def body() -> str:
    """Gives a section for each command, with its verbs and options."""
    return "\n\n".join(_section(name, command) for name, command in ours())


def ours() -> Iterator[tuple[str, BaseCommand]]:
    """Yields the commands of our own apps, sorted by name."""
    own = {app.name for app in apps.get_app_configs() if _is_own(Path(app.path))}
    for name, app in sorted(get_commands().items()):
        if app in own:
            yield name, load_command_class(app, name)


def verbs_of(name: str, command: BaseCommand) -> dict[str, argparse.ArgumentParser]:
    """Gives the parsers of a command's verbs by name; empty for one that stands alone."""
    for action in command.create_parser("manage.py", name)._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _is_own(path: Path) -> bool:
    return path.is_relative_to(BASE_DIR) and "site-packages" not in path.parts


def _section(name: str, command: BaseCommand) -> str:
    verbs = verbs_of(name, command)
    parts = [f"## {name}", str(command.help)]
    if verbs:
        parts += [_verb(f"{name} {verb}", parser) for verb, parser in verbs.items()]
    else:
        parts.append(_usage(name, command.create_parser("manage.py", name)))
    return "\n\n".join(part for part in parts if part)


def _verb(name: str, parser: argparse.ArgumentParser) -> str:
    about = (parser.description or "").strip()
    sentence = about[:1].upper() + about[1:].rstrip(".") + "." if about else ""
    return "\n\n".join(part for part in (f"### {name}", sentence, _usage(name, parser)) if part)


def _usage(name: str, parser: argparse.ArgumentParser) -> str:
    shown = [
        action
        for action in parser._actions
        if not set(action.option_strings) & (DJANGOS | {"--json"})
        and action.help != argparse.SUPPRESS
    ]
    words = " ".join(map(_word, shown))
    call = f"```\nmanage.py {name}{' ' if words else ''}{words}\n```"
    rows = [(f"`{_label(action)}`", _meaning(action)) for action in shown]
    return f"{call}\n\n{table(('argument', 'meaning'), rows)}" if rows else call


def _label(action: argparse.Action) -> str:
    if not action.option_strings:
        return _value(action)
    label = ", ".join(action.option_strings)
    return label if action.nargs == 0 else f"{label} {_value(action)}"


def _word(action: argparse.Action) -> str:
    if not action.option_strings:
        return f"[{_value(action)}]" if action.nargs == "?" else _value(action)
    value = "" if action.nargs == 0 else f" {_value(action)}"
    word = f"{action.option_strings[-1]}{value}"
    return word if action.required else f"[{word}]"


def _value(action: argparse.Action) -> str:
    if action.choices:
        return "|".join(str(choice) for choice in action.choices)
    return str(action.metavar or action.dest).upper()


def _meaning(action: argparse.Action) -> str:
    parts = [action.help or ""]
    if action.option_strings and action.nargs != 0 and action.default not in (None, ""):
        told = f"({action.default})" in parts[0]
        parts.append("" if told else f"default `{action.default}`")
    if action.required and action.option_strings:
        parts.append("needed")
    return "; ".join(part for part in parts if part)
