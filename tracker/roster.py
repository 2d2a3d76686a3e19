"""Words for people and projects → who and which, on the running company's chart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crewlet.kernel.actors import Actor, ActorKind
from crewlet.kernel.errors import Invalid
from crewlet.kernel.nearest import nearest_names
from tracker.mentions import Roster, Unknown
from tracker.wakes import Party

if TYPE_CHECKING:
    from uuid import UUID

    from orgs.epochs import Snapshot

NOBODY = frozenset({"", "none", "nobody", "unassigned"})


def roster_of(snapshot: Snapshot) -> Roster:
    """Returns who can be mentioned now."""
    return Roster.of({seat.handle: seat.name for seat in snapshot.chart.walk()})


def handle_for(word: str, snapshot: Snapshot, actor: Actor, *, field: str) -> str:
    """Returns the handle that a word means: a handle, `me`, or a display name that one seat bears.

    Raises `Invalid`, naming the argument and the candidates, when it means nobody or several.
    """
    bare = word.strip().removeprefix("@")
    if bare.casefold() == "me":
        if actor.handle is None:
            raise Invalid(f"{field}: you hold no seat, so 'me' is nobody here.", field=field)
        return actor.handle
    seats = snapshot.chart.seats
    address = snapshot.former.get(bare.casefold(), bare.casefold())
    if address in seats:
        return address
    folded = " ".join(bare.casefold().split())
    named = [seat.handle for seat in snapshot.chart.walk() if seat.name.casefold() == folded]
    if len(named) == 1:
        return named[0]
    candidates = named or nearest_names(bare, seats)
    raise Invalid(
        f"{field}: {'several seats are' if named else 'nobody here is'} called {bare!r}."
        + _meant(candidates),
        field=field,
        candidates=list(candidates),
    )


def _meant(candidates: list[str]) -> str:
    if not candidates:
        return " Use a handle of the org chart."
    return f" Did you mean {' or '.join('@' + handle for handle in candidates)}?"


def seat_id_for(word: str, snapshot: Snapshot, actor: Actor, *, field: str) -> UUID:
    """Returns the seat that a word means; raises `Invalid` as `handle_for` does."""
    return snapshot.seat_ids[handle_for(word, snapshot, actor, field=field)]


def seat_party(seat_id: UUID | None) -> Party | None:
    """Returns a seat as somebody who can hear."""
    return Party(seat_id=seat_id) if seat_id else None


def party_of(actor: Actor) -> Party:
    """Returns who acts, under the one name by which changes of theirs are theirs."""
    if actor.seat_id is not None:
        return Party(seat_id=actor.seat_id)
    return Party(person_id=actor.person_id)


def kind_of(actor: Actor) -> str:
    """Returns how history calls an actor: agent, human (bound to a seat), operator or system."""
    if actor.kind is ActorKind.SEAT:
        return "agent"
    if actor.kind is ActorKind.ENGINE:
        return "system"
    return "human" if actor.seat_id is not None else "operator"


def is_person(actor: Actor) -> bool:
    """Returns whether a person (or a program in their name) acts, not an agent or the engine."""
    return actor.kind in {ActorKind.PERSON, ActorKind.MACHINE}


def unheard(unknown: tuple[Unknown, ...]) -> str:
    """Returns what the writer is told of mentions that reached nobody; empty without any."""
    if not unknown:
        return ""
    words = []
    for miss in unknown:
        meant = f" (did you mean {' or '.join('@' + c for c in miss.candidates)}?)"
        words.append(f"@{miss.written}{meant if miss.candidates else ''}")
    return f"Reached nobody: {', '.join(words)} — no such handle."
