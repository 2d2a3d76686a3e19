"""How letters become one turn: which go together, and what the merged one owes. Pure.

Letters of one batch key merge, oldest first, so that ten comments are one turn. A letter that owes
its reply on another surface than the ones before it stays apart, and so does everything after it:
order within a conversation is kept. The merge takes the strongest obligation, the greatest depth
with its chain, the newest trace, and keeps every constituent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from agents.mail.letters import Letter, ReplyKind
from crewlet.kernel.ids import derived_id

UNMERGED_PREFIX: Final = "event:"
SAME_AGAIN: Final = "_(the same message again)_"

_STRENGTH: Final[dict[str, int]] = {"none": 0, "tool": 1, "engine": 2}


@dataclass(frozen=True, slots=True)
class Merged:
    """One unit of work, made of the letters that one turn answers.

    `trigger` describes the newest letter ({id, type, summary, actor, timestamp, trace, …, text});
    `constituents` holds every letter, oldest first. `work_key` is the same whenever the same
    letters are worked again.
    """

    letters: tuple[Letter, ...]
    work_key: str
    trigger: dict[str, Any]
    constituents: list[dict[str, Any]]
    batch_key: str
    conversation: str
    reply_kind: ReplyKind
    reply_surface: str
    depth: int
    chain: tuple[str, ...]
    work_item: dict[str, Any] | None
    parent_turn: UUID | None
    agent_caused: bool
    trace: str
    attempt: int

    @property
    def seqs(self) -> list[int]:
        """The rows of the letters."""
        return [letter.seq for letter in self.letters]

    @property
    def work_item_key(self) -> str:
        """The key of the item, or an empty string."""
        return str(self.work_item["key"]) if self.work_item else ""


def work_key_of(event_ids: Sequence[UUID]) -> str:
    """Returns the name of the unit of work that these events make, in whatever order they came."""
    return str(derived_id("work", *sorted(str(event_id) for event_id in event_ids)))


def first_batch(letters: Sequence[Letter]) -> tuple[Letter, ...]:
    """Returns the letters, oldest first, that one turn can answer together.

    All belong to one batch key. Mail that never merges comes alone; mail that owes its reply
    elsewhere ends the batch.
    """
    ordered = sorted(letters, key=lambda letter: (letter.ts, letter.seq))
    if not ordered:
        return ()
    if ordered[0].batch_key.startswith(UNMERGED_PREFIX):
        return (ordered[0],)
    batch: list[Letter] = []
    owed: set[tuple[str, str]] = set()
    for letter in ordered:
        debt = (letter.reply_kind, letter.reply_surface)
        if letter.reply_kind != "none" and letter.reply_surface:
            if owed and debt not in owed:
                break
            owed.add(debt)
        batch.append(letter)
    return tuple(batch)


def merge(
    letters: Sequence[Letter], collapses: Callable[[str], bool] = lambda _kind: True
) -> Merged:
    """Merges a batch into one unit of work. Raises ValueError on an empty batch."""
    if not letters:
        raise ValueError("A turn answers at least one letter.")
    batch = tuple(sorted(letters, key=lambda letter: (letter.ts, letter.seq)))
    newest = batch[-1]
    strongest = max(batch, key=lambda letter: (_STRENGTH[letter.reply_kind], letter.ts, letter.seq))
    deepest = max(batch, key=lambda letter: (letter.depth, letter.ts, letter.seq))
    item = next((dict(x.work_item) for x in reversed(batch) if x.work_item), None)
    return Merged(
        letters=batch,
        work_key=work_key_of([letter.event_id for letter in batch]),
        trigger=_trigger(newest) | {"text": digest(batch, collapses)},
        constituents=[_constituent(letter) for letter in batch],
        batch_key=newest.batch_key,
        conversation=newest.conversation,
        reply_kind=strongest.reply_kind,
        reply_surface=strongest.reply_surface,
        depth=deepest.depth,
        chain=deepest.chain,
        work_item=item,
        parent_turn=next((x.parent_turn for x in reversed(batch) if x.parent_turn), None),
        agent_caused=all(letter.agent_caused for letter in batch),
        trace=newest.trace,
        attempt=max(letter.attempts for letter in batch) + 1,
    )


def digest(batch: Sequence[Letter], collapses: Callable[[str], bool]) -> str:
    """Returns the earlier letters in order, then the newest in full, as markdown.

    A letter whose sender and text both equal an earlier one's shrinks to a marker; two people's
    equal words both stay.
    """
    *earlier, newest = batch
    if not earlier:
        return newest.text
    seen: set[tuple[str, str]] = set()
    parts: list[str] = []
    for letter in earlier:
        said = (str(letter.sender.get("handle", "")), letter.text)
        again = said in seen and collapses(letter.kind)
        seen.add(said)
        parts.append(f"{_heading(letter)}\n\n{SAME_AGAIN if again else letter.text}")
    parts.append(f"{_heading(newest)} (newest)\n\n{newest.text}")
    return "\n\n".join(parts)


def _heading(letter: Letter) -> str:
    name = letter.sender.get("name") or letter.sender.get("handle") or letter.source
    return f"**{name}**, {letter.ts.isoformat(timespec='seconds')}"


def _trigger(letter: Letter) -> dict[str, Any]:
    sender = letter.sender
    return {
        "id": str(letter.event_id),
        "type": letter.kind,
        "source": letter.source,
        "summary": letter.summary,
        "actor": str(sender.get("handle") or sender.get("name") or ""),
        "sender": dict(sender),
        "timestamp": letter.ts.isoformat(),
        "trace": letter.trace,
    }


def _constituent(letter: Letter) -> dict[str, Any]:
    payload: Mapping[str, Any] = letter.payload
    return {
        "event_id": str(letter.event_id),
        "kind": letter.kind,
        "source": letter.source,
        "ts": letter.ts.isoformat(),
        "payload": dict(payload),
    }
