"""Migrations, argument models and table names."""

from __future__ import annotations

from collections import Counter

from pydantic import BaseModel

from crewlet.kernel.actions import ACTIONS, Args
from crewlet.ops.migrating import missing_operations
from tests.rules.source import tell


def test_the_migrations_say_what_the_models_say() -> None:
    tell(missing_operations(), "Run `manage.py makemigrations` and commit what it writes.")


def _subclasses(model: type[BaseModel]) -> list[type[BaseModel]]:
    found: list[type[BaseModel]] = []
    for child in model.__subclasses__():
        found += [child, *_subclasses(child)]
    return found


def test_argument_models_have_names_of_their_own() -> None:
    assert ACTIONS.all(), "no action is registered, so this rule saw nothing"
    names = Counter(
        model.__name__ for model in _subclasses(Args) if not model.__module__.startswith("tests.")
    )
    tell(
        sorted(name for name, count in names.items() if count > 1),
        "Two argument models of one name give the API one schema for both. Rename one of them.",
    )
