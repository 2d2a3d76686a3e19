"""Did what the seat says it delivered land where the asker waits? The record decides, not prose.

One rule, asked three times: when work is submitted, before the review and after it. It judges the
whole turn, because a second pass may not repeat the comment that the first one wrote.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.turn.ledger import references
from agents.turn.record import CallRecord, Effect, TurnHead, TurnRecord
from agents.turn.submissions import SubmitWork
from crewlet.kernel.registry import Registry

_REFERENCE = re.compile(r"^[a-z_]+:[^\s:]+$")


@dataclass(frozen=True, slots=True)
class Surface:
    """A place where an answer can land.

    `title` completes "on …"; `remedy` says how to reach it when the seat lacks the tool at hand.
    """

    title: str
    remedy: str = ""


SURFACES: Registry[Surface] = Registry("surfaces")
"""Surface name (`work`, `page`, `slack`) → what it is called and how it is reached."""


@dataclass(frozen=True, slots=True)
class Held:
    """The delivering tools that the seat holds now: tool name → surface."""

    tools: tuple[tuple[str, str], ...] = ()

    def on(self, surface: str) -> list[str]:
        return sorted(name for name, where in self.tools if where == surface)

    def any(self) -> list[str]:
        return sorted(name for name, where in self.tools if where)


def delivers(call: CallRecord) -> bool:
    """Whether a call landed something somewhere.

    An action of ours delivers only if it names a surface; a call of somebody else's system
    delivers unless it is proved to read. A failed call never does.
    """
    if not call.done or not call.wrote:
        return False
    return bool(call.surface) or call.effect is Effect.OUTSIDE


def wanted_surface(head: TurnHead, held: Held) -> str:
    """The surface the answer must land on; empty when any delivery counts.

    Narrowing stops where no surface was named, or where the seat holds no tool for it.
    """
    return head.reply_surface if head.reply_surface and held.on(head.reply_surface) else ""


def landed(record: TurnRecord, held: Held) -> list[CallRecord]:
    """The calls of this turn that reached where the asker waits."""
    surface = wanted_surface(record.head, held)
    return [
        call
        for call in record.calls()
        if delivers(call) and (not surface or call.surface == surface)
    ]


def reached(record: TurnRecord, held: Held) -> bool:
    """Whether whoever asked has received something. True when nobody waits for a tool's answer."""
    return record.head.reply_kind != "tool" or bool(landed(record, held))


def unreported(record: TurnRecord) -> list[str]:
    """What a turn delivered whose seat never came to say so, by reference; empty when it did."""
    if record.submission is not None:
        return []
    unsaid = [phase for phase in record.phases if phase.submission is None]
    return references([call for phase in unsaid for call in phase.calls() if delivers(call)])


def cites(entry: str, call: CallRecord) -> bool:
    """Whether a line of a submission names a call: by reference, its bare id, or the tool."""
    names = {call.name, call.call_id}
    for ref in call.refs:
        names.update((ref, ref.partition(":")[2]))
    return any(re.search(rf"(?<![\w-]){re.escape(n)}(?![\w-])", entry) for n in names if n)


def refusal(work: SubmitWork, record: TurnRecord, held: Held) -> str:
    """Says why a submission cannot stand, with the remedy; empty when it can."""
    head = record.head
    if work.outcome == "no_action" and head.reply_kind != "none":
        return _somebody_waits(head, held)
    if work.outcome != "delivered" or head.reply_kind != "tool":
        return ""
    there = landed(record, held)
    if not there:
        return _nothing_landed(record, held)
    if any(cites(entry, call) for entry in work.deliveries for call in there):
        return ""
    listed = ", ".join(references(there))
    return (
        "submit_work was not accepted: `deliveries` cites nothing that reached whoever asked. "
        f"You can cite: {listed}. Submit again with what applies."
    )


def refuted(work: SubmitWork, record: TurnRecord) -> str:
    """Says which claim the record contradicts; empty when none is.

    Only what can be checked is held against the seat: a delivery claimed by a turn that wrote
    nothing, and a reference (`item:ENG-4`) that no successful call of the turn touched.
    """
    if work.outcome != "delivered" or not work.deliveries:
        return ""
    done = [call for call in record.calls() if call.done and call.wrote]
    if not done:
        return (
            "Your submission claims deliveries, but no call of this turn changed anything. Do the "
            "work with tools, or submit without deliveries."
        )
    known = [entry for entry in work.deliveries if _REFERENCE.match(entry)]
    unknown = [entry for entry in known if not any(cites(entry, call) for call in done)]
    if not unknown:
        return ""
    return (
        f"Your submission cites {', '.join(unknown)}, which no successful call of this turn "
        f"touched. On record: {', '.join(references(done))}."
    )


def _somebody_waits(head: TurnHead, held: Held) -> str:
    if head.reply_kind == "engine":
        return (
            "submit_work was not accepted: a colleague waits for your answer, so no_action is not "
            "open. Put the answer in `summary` and submit as delivered, or blocked with evidence."
        )
    return (
        "submit_work was not accepted: somebody waits for an answer, so no_action is not open. "
        + remedy(head, held)
    )


def _nothing_landed(record: TurnRecord, held: Held) -> str:
    elsewhere = [call for call in record.calls() if call.wrote]
    wrote = (
        f" This turn wrote elsewhere ({', '.join(references(elsewhere))}), which they do not see."
        if elsewhere
        else ""
    )
    return (
        f"submit_work was not accepted: nothing of this turn has reached whoever asked.{wrote} "
        + remedy(record.head, held)
    )


def remedy(head: TurnHead, held: Held) -> str:
    """Names the tools that reach the asker, or where to find them."""
    surface = wanted_surface(head, held)
    if surface:
        known = SURFACES.get(surface)
        place = known.title if known else surface
        return f"Answer on {place} with {_one_of(held.on(surface))}, then submit again."
    asked = SURFACES.get(head.reply_surface) if head.reply_surface else None
    if asked and asked.remedy:
        return asked.remedy
    tools = held.any()
    if tools:
        return f"Deliver with {_one_of(tools)}, then submit again."
    return "You hold no tool that delivers; submit as blocked and say so in evidence."


def _one_of(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"`{names[0]}`"
    return "one of " + ", ".join(f"`{name}`" for name in names)


def artifact_hash(artifact: str) -> str:
    """The identity of what a pass produced; whitespace does not make it different work."""
    return hashlib.sha256(" ".join(artifact.split()).encode()).hexdigest()
