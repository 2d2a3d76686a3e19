"""What a request tells the player: who it is, what woke it, what its calls brought."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agents.llm.base import AssistantMessage, Request, ToolMessage, UserMessage

_IDENTITY = re.compile(r"seat \*\*(?P<name>[^*]+)\*\* \(@(?P<handle>[a-z0-9-]+)\)")
_REPORT = re.compile(
    r"^### (?P<name>.+?) \(@(?P<handle>[a-z0-9-]+)(?P<person>, a person)?\)$"
    r"(?:\n\n(?P<goal>[^-#\n][^\n]*))?",
    re.MULTILINE,
)
_ITEM = re.compile(r"^Item: (?P<key>[A-Z][A-Z0-9]*-\d+) — (?P<title>.*)$", re.M)
_REASON = re.compile(r"^Reason: (?P<reason>.*)$", re.M)
_FROM = re.compile(r"^From: (?P<name>.+) \(@(?P<handle>[^,\s]+), (?P<kind>[a-z]+)\)$", re.M)
_ANSWERS = re.compile(r"answers=(?P<comment>[0-9a-f-]{36})")
_PEOPLE = re.compile(r"^- (?P<name>.+) \(@(?P<handle>[a-z0-9-]+)\)$", re.M)
_GOAL = re.compile(r"\*\*Your goal\.\*\* (?P<goal>[^\n]+)")
_MANAGER = re.compile(r"(?:Its lead is|You report to) [^(]+\(@(?P<handle>[a-z0-9-]+)")


@dataclass(frozen=True, slots=True)
class Colleague:
    """Somebody whom the prompt names."""

    name: str
    handle: str
    goal: str = ""


@dataclass(frozen=True, slots=True)
class Done:
    """One call that was made in this phase and what came back."""

    name: str
    arguments: Mapping[str, Any]
    ok: bool
    text: str

    @property
    def data(self) -> dict[str, Any]:
        """The JSON part of the result; empty where there is none."""
        _, brace, rest = self.text.partition("\n{")
        if not brace:
            return {}
        try:
            found = json.loads("{" + rest)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything the player goes by."""

    name: str
    handle: str
    reviewing: bool
    goal: str
    manager: str
    reports: tuple[Colleague, ...]
    people: tuple[Colleague, ...]
    item: str
    title: str
    reason: str
    sender: str
    sender_kind: str
    asked_comment: str
    owed: bool
    again: bool
    tools: frozenset[str]
    done: tuple[Done, ...] = field(default=())
    system: str = ""
    message: str = ""

    def did(self, name: str, **arguments: Any) -> bool:
        """Returns whether a call of this name, with these arguments, succeeded in this phase."""
        return self.last(name, **arguments) is not None

    def last(self, name: str, **arguments: Any) -> Done | None:
        """Returns the newest successful call of this name with these arguments."""
        return next(
            (
                call
                for call in reversed(self.done)
                if call.name == name
                and call.ok
                and arguments.items() <= dict(call.arguments).items()
            ),
            None,
        )


def _section(text: str, title: str) -> str:
    _, found, rest = text.partition(f"## {title}\n")
    return rest.partition("\n## ")[0] if found else ""


def _done(request: Request) -> tuple[Done, ...]:
    results = {m.call_id: m for m in request.messages if isinstance(m, ToolMessage)}
    found = []
    for message in request.messages:
        if not isinstance(message, AssistantMessage):
            continue
        for call in message.answer.calls:
            result = results.get(call.id)
            if result is not None:
                found.append(Done(call.name, call.arguments or {}, result.ok, result.text))
    return tuple(found)


def read(request: Request) -> Situation:
    """Returns the situation that a request describes."""
    system = request.system
    message = next((m.text for m in request.messages if isinstance(m, UserMessage)), "")
    tools = frozenset(tool.name for tool in request.tools)
    me = _IDENTITY.search(system)
    newest = message.rpartition("## The message")[2] or message
    item = _ITEM.search(newest)
    reason, sender, asked = (p.search(newest) for p in (_REASON, _FROM, _ANSWERS))
    goal, manager = _GOAL.search(system), _MANAGER.search(system)
    return Situation(
        name=me["name"] if me else "",
        handle=me["handle"] if me else "",
        reviewing="submit_review" in tools,
        goal=goal["goal"] if goal else "",
        manager=manager["handle"] if manager else "",
        reports=tuple(
            Colleague(m["name"], m["handle"], m["goal"] or "")
            for m in _REPORT.finditer(_section(system, "Your team"))
            if not m["person"]
        ),
        people=tuple(
            Colleague(m["name"], m["handle"])
            for m in _PEOPLE.finditer(_section(system, "People you work with"))
        ),
        item=item["key"] if item else "",
        title=item["title"] if item else "",
        reason=reason["reason"] if reason else "",
        sender=sender["handle"] if sender else "",
        sender_kind=sender["kind"] if sender else "",
        asked_comment=asked["comment"] if asked else "",
        owed="Somebody waits for your answer" in message,
        again="## Work already done in this turn" in message,
        tools=tools,
        done=_done(request),
        system=system,
        message=message,
    )
