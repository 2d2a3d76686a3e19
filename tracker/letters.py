"""How a change reads for the one it wakes. Pure: facts in, the payload of a letter out.

A model reads `text`: what item, why it hears of it, from whom, what changed, what was said, and
with which tool it answers. The first lines have one fixed form each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from agents.mail.letters import ReplyKind
from agents.mail.triggers import TriggerKind
from tracker.statuses import STATUS_LABELS, Status
from tracker.wakes import REMOVAL_KINDS, ChangeKind, Happened, Reason

QUOTE_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Sender:
    """Who made the change; `kind` is agent, human, operator or system."""

    handle: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What a letter tells. `fields` are pairs in words: name → (from, to). With `part`, the change
    happened to that part of the item, not to the item itself.
    """

    key: str
    title: str
    status: str
    assignee: str | None
    sender: Sender
    reason: Reason
    happened: Happened
    fields: Mapping[str, tuple[str, str]]
    why: str
    quote: str
    addressed: bool
    comment_id: str
    open_ask: bool
    part: str = ""


def write(facts: Facts) -> dict[str, Any]:
    """Returns the payload of a letter about a change."""
    reason = reason_words(facts.reason, facts.happened)
    quote = _cut(facts.quote)
    lines = [
        *_head(facts.key, facts.title, facts.status, facts.assignee, reason),
        f"From: {facts.sender.name} (@{facts.sender.handle}, {facts.sender.kind})",
        *([f"Part: {facts.part}"] if facts.part else []),
        *(f"Changed: {name}: {old} -> {new}" for name, (old, new) in facts.fields.items()),
    ]
    if facts.why:
        lines.append(f"Why: {facts.why}")
    if quote:
        lines += ["", *(f"> {line}".rstrip() for line in quote.splitlines())]
    lines += ["", _how_to_answer(facts)]
    return {
        "summary": f"{facts.sender.name}: {_summary(facts)}",
        "sender": {
            "handle": facts.sender.handle,
            "name": facts.sender.name,
            "kind": facts.sender.kind,
        },
        "text": "\n".join(lines),
        "item": _item(facts.key, facts.title, facts.status, facts.assignee),
        "reason": facts.reason.value,
        "reason_words": reason,
        "change": facts.happened.kind.value,
        "fields": {name: {"from": old, "to": new} for name, (old, new) in facts.fields.items()},
        "quote": quote,
        "addressed": facts.addressed,
        "comment": facts.comment_id,
    }


def note(key: str, title: str, status: str, assignee: str | None, body: str) -> dict[str, Any]:
    """Returns the payload of a letter with a note of the engine: nothing is owed for it."""
    reason = "a note of the engine on an item you answer for"
    lines = [
        *_head(key, title, status, assignee, reason),
        "From: Crewlet (@engine, system)",
        "",
        *(f"> {line}".rstrip() for line in body.splitlines()),
        "",
        f"No answer is owed. get_work_item {key} shows the whole talk.",
    ]
    return {
        "summary": f"{key} {title}: {body.splitlines()[0]}"[:300],
        "sender": {"handle": "engine", "name": "Crewlet", "kind": "system"},
        "text": "\n".join(lines),
        "item": _item(key, title, status, assignee),
        "reason": Reason.LEAD_FALLBACK.value,
        "reason_words": reason,
        "change": ChangeKind.NOTE.value,
        "fields": {},
        "quote": body,
        "addressed": False,
        "comment": "",
    }


def purged(key: str, sender: Sender, why: str) -> dict[str, Any]:
    """Returns the payload of the letter that tells a lead of a purge: key, who and why, no more."""
    reason = f"an item of a project you lead was {Reason.PURGED.value}"
    lines = [
        f"Item: {key}",
        f"Reason: {reason}",
        f"From: {sender.name} (@{sender.handle}, {sender.kind})",
        f"Why: {why}",
        "",
        f"No answer is owed. Nothing of {key} is left to read; its parts moved up.",
    ]
    return {
        "summary": f"{sender.name}: purged {key}"[:300],
        "sender": {"handle": sender.handle, "name": sender.name, "kind": sender.kind},
        "text": "\n".join(lines),
        "item": _item(key, "", "", None),
        "reason": Reason.PURGED.value,
        "reason_words": reason,
        "change": ChangeKind.PURGED.value,
        "fields": {},
        "quote": why,
        "addressed": False,
        "comment": "",
    }


def _head(key: str, title: str, status: str, assignee: str | None, reason: str) -> list[str]:
    return [
        f"Item: {key} — {title}",
        f"Reason: {reason}",
        f"Status: {status}",
        f"Assignee: {'@' + assignee if assignee else 'nobody'}",
    ]


def _item(key: str, title: str, status: str, assignee: str | None) -> dict[str, Any]:
    return {"key": key, "title": title, "status": status, "assignee": assignee}


def reason_words(reason: Reason, happened: Happened) -> str:
    """Returns why somebody hears of a change, as the second line of a letter says it."""
    if happened.kind in REMOVAL_KINDS:
        return _removal_words(reason, happened.kind.value)
    if reason is Reason.ASSIGNEE:
        return _assignee_words(happened)
    if reason is Reason.REPORTER:
        return f"{_what(happened)} on an item you filed"
    return {
        Reason.MENTION: "mentioned",
        Reason.ASKED: "asked",
        Reason.ANSWERED: "your ask was answered",
        Reason.UNASSIGNED: "taken off you",
        Reason.THREAD: "a reply in a thread you take part in",
        Reason.PARENT_ASSIGNEE: "a part of your item was finished",
        Reason.WATCHER: f"{_what(happened)} on an item you watch",
    }.get(reason, f"{_what(happened)} in a project you lead, and nobody else hears of it")


def _removal_words(reason: Reason, done: str) -> str:
    """Says what was done to the item first: whoever works on it stops, or may go on."""
    whose = {
        Reason.ASSIGNEE: "it is your item",
        Reason.REPORTER: "you filed it",
        Reason.WATCHER: "you watch it",
    }.get(reason, "you lead its project, and nobody else hears of it")
    return f"{done}; {whose}"


def _assignee_words(happened: Happened) -> str:
    if happened.assigned or happened.kind is ChangeKind.CREATED:
        return "assigned"
    return f"{_what(happened)} on your item"


def _what(happened: Happened) -> str:
    if happened.finished:
        return "finished"
    return {
        ChangeKind.CREATED: "a new item",
        ChangeKind.COMMENT: "a comment",
        ChangeKind.STATUS: "a new status",
        ChangeKind.ASSIGNEE: "a new assignee",
    }.get(happened.kind, "a change")


def _how_to_answer(facts: Facts) -> str:
    key = facts.key
    if facts.happened.kind is ChangeKind.REMOVED:
        return f"No answer is owed. {key} takes no writes until a person restores it: stop here."
    if facts.open_ask:
        return (
            f"Answer with comment_on_work_item on {key}, answers={facts.comment_id}"
            " (and choice=<option id> where options are given)."
        )
    if facts.addressed:
        return f"Answer with comment_on_work_item on {key}."
    return f"No answer is owed. comment_on_work_item on {key} if there is something to add."


def _summary(facts: Facts) -> str:
    if facts.part:
        return f"finished {facts.part}, a part of {facts.key} {facts.title}"[:300]
    verb = {
        ChangeKind.CREATED: "filed",
        ChangeKind.COMMENT: "commented on",
        ChangeKind.ASSIGNEE: "reassigned",
        ChangeKind.STATUS: "moved",
        ChangeKind.REMOVED: "removed",
        ChangeKind.RESTORED: "restored",
    }.get(facts.happened.kind, "changed")
    if facts.reason is Reason.ASKED:
        verb = "asks you on"
    elif facts.reason is Reason.ANSWERED:
        verb = "answered you on"
    elif facts.reason is Reason.MENTION:
        verb = "mentioned you on"
    elif facts.reason is Reason.ASSIGNEE and facts.happened.assigned:
        verb = "assigned you"
    return f"{verb} {facts.key} {facts.title}"[:300]


def wakes_stopped(key: str, held_back: list[str], limit: int) -> str:
    """Returns the note that says why agents no longer wake each other on an item."""
    return (
        f"Agents woke each other {limit} times in a row on {key} without a word from a person, so "
        f"the last message did not wake {', '.join(held_back)}. Nothing is lost: the talk stands "
        "here. A person's comment or change on the item lets it go on."
    )


def shown_fields(
    fields: Mapping[str, Mapping[str, Any]], handles: Mapping[UUID, str]
) -> dict[str, tuple[str, str]]:
    """Returns history's raw pairs in words: seats as handles, absent values as none."""
    return {
        name: (_word(name, pair.get("from"), handles), _word(name, pair.get("to"), handles))
        for name, pair in fields.items()
    }


def _word(name: str, value: Any, handles: Mapping[UUID, str]) -> str:
    if value is None or value == "":
        return "none"
    if name == "assignee":
        return f"@{handles.get(UUID(str(value)), 'somebody who left')}"
    if name == "status":
        return str(value)
    if name == "body":
        return f"{value} characters"
    if isinstance(value, list):
        return ", ".join(str(one) for one in value) or "none"
    return str(value)


def status_name(status: str) -> str:
    """Returns a status as pages write it."""
    return STATUS_LABELS[Status(status)]


def _cut(text: str) -> str:
    raw = text.encode()
    if len(raw) <= QUOTE_BYTES:
        return text
    return raw[:QUOTE_BYTES].decode("utf-8", "ignore") + "…"


def owes(payload: Mapping[str, Any]) -> tuple[ReplyKind, str]:
    """Returns what a letter is owed: an answer on the item when its reader is addressed."""
    return ("tool", "work") if payload.get("addressed") else ("none", "")


def render(payload: Mapping[str, Any]) -> str:
    """Returns what a turn reads of a letter."""
    return str(payload["text"])


TRIGGER = TriggerKind("work_item", "Work item", owes=owes, render=render)
