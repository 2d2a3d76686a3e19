"""The verbs over one's own way of reading: stars and preferences. Nobody sets them for others."""

from __future__ import annotations

from typing import Annotated, Literal
from zoneinfo import available_timezones

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from pydantic import StringConstraints

from crewlet.kernel import clock, live
from crewlet.kernel.actions import Args, Door, Result, action
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from crewlet.kernel.errors import Conflict, Invalid, NotFound
from crewlet.kernel.refs import REF_KINDS, label_of
from orgs import access, outbound
from orgs.models.people import Person
from orgs.models.preferences import Preference, Star
from orgs.queries.outbound import seat_address
from orgs.queries.preferences import MAX_STARS

# Not the shell: the operator at it is no person, so nothing could ever be kept there.
_DOORS = frozenset({Door.MCP, Door.REST, Door.FORM})
Ref = Annotated[
    str, StringConstraints(strip_whitespace=True, pattern=r"^[a-z]+:\S+$", max_length=160)
]


class StarThing(Args):
    """What to keep at hand, as `kind:id`, such as `item:ENG-4`."""

    ref: Ref


@action("star", args=StarThing, doors=_DOORS, grant=Grant.STATE_READ, rules=("person_only",),
        fetch=lambda actor, args: access.own_person(actor),
        idempotent=True, label="Starred {ref}")  # fmt: skip
def star(actor: Actor, args: StarThing, target: Person) -> Result:
    """Keeps a thing at hand in one's own sidebar; starring it again changes nothing."""
    kind_name, _, ident = args.ref.partition(":")
    kind = REF_KINDS.get(kind_name)
    if kind is None:
        known = ", ".join(sorted(REF_KINDS))
        raise Invalid(f"Nothing is called '{kind_name}' here; known: {known}.", field="ref")
    if not kind.exists(ident):
        raise NotFound(f"There is no {kind_name} {ident} to star.", field="ref")
    mine = Star.objects.filter(person=target)
    if not mine.filter(ref=args.ref).exists():
        if mine.count() >= MAX_STARS:
            raise Conflict(
                f"You starred {MAX_STARS} things already; take a star away first.", field="ref"
            )
        try:
            with transaction.atomic():
                Star.objects.create(person=target, ref=args.ref, at=clock.now())
        except IntegrityError:
            return Result("Starred already.", (args.ref,))  # the other press landed first
        live.changed(f"inbox:{actor.login}")
    return Result(f"Starred {label_of(args.ref)}.", (args.ref,))


class UnstarThing(Args):
    """What to keep at hand no longer."""

    ref: Ref


@action("unstar", args=UnstarThing, doors=_DOORS, grant=Grant.STATE_READ, rules=("person_only",),
        fetch=lambda actor, args: access.own_person(actor),
        idempotent=True, label="Unstarred {ref}")  # fmt: skip
def unstar(actor: Actor, args: UnstarThing, target: Person) -> Result:
    """Takes one's own star away, also from a thing that is no longer there."""
    gone, _ = Star.objects.filter(person=target, ref=args.ref).delete()
    if gone:
        live.changed(f"inbox:{actor.login}")
    return Result("The star is gone." if gone else "There was no star.", (args.ref,))


class SetPreferences(Args):
    """How one likes to read. What is not named stays; an empty text goes back to the default."""

    theme: Literal["", "light", "dark", "system"] | None = None
    density: Literal["", "cosy", "compact"] | None = None
    timezone: Annotated[str, StringConstraints(strip_whitespace=True, max_length=64)] | None = None
    date_style: Literal["", "plain", "iso", "us"] | None = None
    single_keys: bool | None = None


# A form cannot say "empty": it sends the default by its name.
_DEFAULT_NAMES = frozenset({"system", "cosy", "plain", "company"})


@action("set_preferences", args=SetPreferences, doors=_DOORS, grant=Grant.STATE_READ,
        rules=("person_only",), fetch=lambda actor, args: access.own_person(actor),
        idempotent=True, label="Set preferences")  # fmt: skip
def set_preferences(actor: Actor, args: SetPreferences, target: Person) -> Result:
    """Keeps how the actor likes to read: theme, density, time zone, date style, single keys."""
    chosen = {
        name: "" if value in _DEFAULT_NAMES else value
        for name, value in args.model_dump(exclude_none=True).items()
    }
    zone = chosen.get("timezone")
    if zone and zone not in available_timezones():
        raise Invalid(
            f"'{zone}' is no time zone; name one such as Europe/Lisbon.", field="timezone"
        )
    Preference.objects.update_or_create(person=target, defaults=chosen)
    return Result("Your preferences are kept.")


class SetEmail(Args):
    """How much of one's inbox goes out by e-mail, and where to.

    `level` is `off`, `decisions` (what waits for an answer) or `all` (news that counts as well).
    Without an `address` it goes to the one that the company document gives one's seat.
    """

    level: Literal["off", "decisions", "all"]
    address: Annotated[str, StringConstraints(strip_whitespace=True, max_length=254)] = ""


@action("set_email", args=SetEmail, doors=_DOORS, grant=Grant.STATE_READ, rules=("person_only",),
        fetch=lambda actor, args: access.own_person(actor),
        idempotent=True, label="Set e-mail to {level}")  # fmt: skip
def set_email(actor: Actor, args: SetEmail, target: Person) -> Result:
    """Keeps what of the actor's inbox leaves by e-mail, and the address it goes to."""
    if args.address:
        try:
            validate_email(args.address)
        except ValidationError:
            raise Invalid(
                "This is no e-mail address; write one such as ana@example.com.", field="address"
            ) from None
    outbound.choose(target, args.level, args.address)
    if args.level == "off":
        return Result("Nothing leaves by e-mail any more.")
    goes_to = args.address or seat_address(target)
    if not goes_to:
        return Result(
            "Kept, but there is nowhere to send to: give an address, or have one written at your "
            "seat in the company document."
        )
    return Result(f"E-mail goes to {goes_to}.")
