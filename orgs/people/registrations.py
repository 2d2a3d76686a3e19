"""What people and access add to the registries."""

from __future__ import annotations

from importlib import import_module

from crewlet.kernel.actors import WAYS
from crewlet.kernel.live import TOPICS
from crewlet.kernel.refs import REF_KINDS, RefKind
from crewlet.ops.hooks import UP_HOOKS
from orgs.models.people import Person
from orgs.people.printed import printed_path
from orgs.people.tokens import check_environment
from orgs.people.ways import actor_of_request, actor_of_scope


def register() -> None:
    """Registers the ways in, the verbs, the rules, the inbox topic and the printed link."""
    check_environment()
    for module in (
        "orgs.access",
        "orgs.actions.people",
        "orgs.actions.inbox",
        "orgs.actions.preferences",
        "orgs.setup.actions",
    ):
        import_module(module)
    WAYS.register("http", actor_of_request)
    WAYS.register("socket", actor_of_scope)
    # A person hears of their own inbox and of nobody else's.
    TOPICS.register("inbox", lambda actor, login: login in ("", actor.login))
    REF_KINDS.register(
        "person",
        RefKind(
            label=_name_of,
            url=lambda login: "",
            exists=lambda login: Person.objects.filter(login=login).exists(),
        ),
    )
    UP_HOOKS.link.register("founder", lambda request: printed_path())


def _name_of(login: str) -> str:
    name = Person.objects.filter(login=login).values_list("name", flat=True).first()
    return name or login
