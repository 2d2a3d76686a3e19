"""The verb of the first run: a company where there is none."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from crewlet.kernel.actions import Args, Doors, Result, action
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from crewlet.kernel.errors import CrewletError, ErrorCode
from orgs import epochs
from orgs.models.people import Person
from orgs.models.seats import Seat
from orgs.people.founder import NAMELESS
from orgs.revisions import apply_document
from orgs.setup.templates import Template, first_document
from orgs.setup.thinking import Thinking, provider_of

FOUNDER = "founder"
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class CreateCompany(Args):
    """What the first company is: its name, its aim, what it begins with, and who thinks."""

    name: Name = Field(description="what the company is called")
    mission: Annotated[str, StringConstraints(strip_whitespace=True, max_length=2000)] = ""
    timezone: str = Field("UTC", max_length=64, description="where its days begin")
    template: Template = Field(Template.NEW, description="what its chart begins with")
    founder: Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)] = Field(
        "", description="the name on your own seat at the top; empty for none"
    )
    thinking: Thinking = Field(Thinking.NONE, description="who thinks for the seats")
    model: str = Field("", max_length=200, description="the model; empty takes the usual one")
    base_url: str = Field("", max_length=500, description="the address of a local server, with /v1")


def document_of(args: CreateCompany) -> dict[str, Any]:
    """Returns the document that the arguments ask for; raises `Invalid` for one that cannot be."""
    return first_document(
        args.template,
        name=args.name,
        mission=args.mission,
        timezone=args.timezone,
        founder=args.founder,
        provider=provider_of(args.thinking, model=args.model, base_url=args.base_url),
    )


@action("create_company", args=CreateCompany, doors=Doors.PEOPLE, grant=Grant.CONFIG_WRITE,
        rules=("not_agent",), label="Created the company {name}")  # fmt: skip
def create_company(actor: Actor, args: CreateCompany, target: None) -> Result:
    """Creates the first company from a template and makes it run; refused where there is one.
    With `founder`, the person who asks holds the seat at the top."""
    if epochs.current() is not None:
        raise already_configured()
    applied = apply_document(
        actor,
        document_of(args),
        summary=f"{args.name} begins",
        create_only=True,
        source="setup",
    )
    if args.founder:
        _take_the_seat(actor, args.founder)
    return Result(
        f"{args.name} runs as epoch {applied.epoch}.",
        refs=(f"revision:{applied.revision_id}",),
        data={"epoch": applied.epoch, "revision_id": str(applied.revision_id)},
    )


def already_configured() -> CrewletError:
    """Returns the refusal of a second first company."""
    return CrewletError(
        "A company is already set up here. Change it with `manage.py company import FILE` or "
        "PUT /api/v1/config.",
        code=ErrorCode.PRECONDITION_FAILED,
        reason="already_configured",
    )


def _take_the_seat(actor: Actor, name: str) -> None:
    """Binds the person who founded the company, unless they hold a seat; a token holds none. Who
    came in by the printed link has no name yet and takes the seat's.
    """
    if actor.person_id is not None:
        seat = Seat.objects.get(handle=FOUNDER, removed_at=None)
        Person.objects.filter(id=actor.person_id, seat=None).update(seat=seat)
        Person.objects.filter(id=actor.person_id, name=NAMELESS).update(name=name)
