"""What the company document adds to the registries."""

from __future__ import annotations

from importlib import import_module
from typing import Any
from uuid import UUID

from django.conf import settings

from crewlet.doors.mcp import RESOURCES, McpResource
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from crewlet.kernel.live import TOPICS
from crewlet.kernel.refs import REF_KINDS, RefKind
from crewlet.ops.checks import Reason, register_obstacle
from crewlet.ops.hooks import UP_HOOKS, UpRequest
from crewlet.ops.reference import shapes
from crewlet.ops.reference.pages import PAGES, Page
from orgs import epochs
from orgs.document.schema import schema
from orgs.models.company import ConfigRevision
from orgs.queries import places
from orgs.queries.company import org_view


def register() -> None:
    """Registers the verbs, the `org` topic, references to revisions, the demo company, what an
    install without a company lacks, and the reference page of the document."""
    import_module("orgs.actions.company")
    TOPICS.register("org", lambda actor, _rest: Grant.STATE_READ in actor.grants)
    REF_KINDS.register("revision", RefKind(label=_summary, url=_url, exists=_exists))
    REF_KINDS.register("seat", RefKind(places.seat_label, places.seat_url, places.seat_exists))
    REF_KINDS.register("unit", RefKind(places.unit_label, places.unit_url, places.unit_exists))
    UP_HOOKS.prepare.register("document", _prepare_document)
    UP_HOOKS.prepare.register("demo", _prepare_demo)
    register_obstacle(Reason.UNCONFIGURED, lambda: epochs.current() is None)
    RESOURCES.register(
        "chart",
        McpResource("The chart", "The company's charter, units, seats and who leads whom.", _chart),
    )
    PAGES.register(
        "configuration",
        Page(
            "The company document",
            "Every key that a document may hold; any other is refused. `manage.py company schema` "
            "prints the same as JSON Schema, for editors that check while you write.",
            lambda: shapes.objects(schema()),
        ),
    )


def _chart(actor: Actor, ident: str) -> dict[str, Any]:
    return org_view(with_config=Grant.CONFIG_READ in actor.grants)


def _prepare_document(request: UpRequest) -> str | None:
    from orgs.setup.files import prepare  # needs every app to be ready

    return prepare(request)


def _prepare_demo(request: UpRequest) -> str | None:
    if not request.demo:
        return None
    from orgs.demo.creation import ensure_demo  # needs every app to be ready

    return ensure_demo(settings.CREWLET)


def _summary(ident: str) -> str:
    found = _row(ident)
    return found.summary if found else "A revision that is not stored here"


def _url(ident: str) -> str:
    return f"/settings/config/{ident}"


def _exists(ident: str) -> bool:
    return _row(ident) is not None


def _row(ident: str) -> ConfigRevision | None:
    try:
        return ConfigRevision.objects.filter(id=UUID(ident)).first()
    except ValueError:
        return None
