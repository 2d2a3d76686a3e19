"""A simple agent for the model server: decides from the tools offered and the messages so far.

It keeps no state, so any number of seats, turns and restarts can talk to it at once. Arguments are
filled in from each tool's own JSON Schema.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from tests.support.script import ScriptedCall, SeenRequest, Step

Play = Callable[[SeenRequest], Step]

READ, COMMENT = "get_work_item", "comment_on_work_item"
SUBMIT, REVIEW, ONBOARD = "submit_work", "submit_review", "mark_onboarded"
MOST_SUBMISSIONS = 3
_ITEM = re.compile(r"\b[A-Z][A-Z0-9]{1,9}-\d+\b")
_WORDS = "I read it and did what was asked."


def reviewed_turn(rounds: int = 1) -> Play:
    """Reads the item `rounds` times, comments on it, submits; its reviewer says done."""

    def play(seen: SeenRequest) -> Step:
        if REVIEW in seen.tools:
            return _call(seen, REVIEW, decision="done", completed_work=_WORDS)
        if ONBOARD in seen.tools and SUBMIT not in seen.tools:
            return _call(seen, ONBOARD, note="I know my seat.")
        if SUBMIT not in seen.tools:
            return Step(say="Noted.")
        return _work(seen, rounds)

    return play


def reader(rounds: int = 1) -> Play:
    """Reads the item `rounds` times and submits without writing anything."""

    def play(seen: SeenRequest) -> Step:
        if SUBMIT not in seen.tools or REVIEW in seen.tools:
            return reviewed_turn(rounds)(seen)
        made = [call.name for call in seen.calls()]
        if READ in seen.tools and _item(seen) and made.count(READ) < rounds:
            return _call(seen, READ)
        return _submit(seen, made, outcome="no_action")

    return play


PLAYS: Mapping[str, Callable[[int], Play]] = {"reviewed-turn": reviewed_turn, "reader": reader}


def _work(seen: SeenRequest, rounds: int) -> Step:
    made = [call.name for call in seen.calls()]
    if READ in seen.tools and _item(seen) and made.count(READ) < rounds:
        return _call(seen, READ)
    if COMMENT in seen.tools and _item(seen) and COMMENT not in made:
        # The schema lets a comment be empty (an answer may only choose), the tool does not.
        return _call(seen, COMMENT, body=_WORDS)
    deliveries = [COMMENT] if COMMENT in made else []
    return _submit(seen, made, outcome="delivered", deliveries=deliveries)


def _submit(seen: SeenRequest, made: list[str], **arguments: Any) -> Step:
    """Submits; one that was refused before is tried as blocked, then given up in words."""
    if made.count(SUBMIT) >= MOST_SUBMISSIONS:
        return Step(say="My submission is not accepted, so I stop here.")
    if made.count(SUBMIT):
        arguments = {"outcome": "blocked", "evidence": "My submission was refused."}
    return _call(seen, SUBMIT, summary=_WORDS, **arguments)


def _call(seen: SeenRequest, name: str, **arguments: Any) -> Step:
    filled = {**_filled(seen.tools[name], seen), **arguments}
    return Step(say=f"Now {name}.", calls=[ScriptedCall(name, filled)])


def _filled(schema: Mapping[str, Any], seen: SeenRequest) -> dict[str, Any]:
    properties: Mapping[str, Mapping[str, Any]] = schema.get("properties", {})
    return {
        name: _value(name, properties.get(name, {}), seen) for name in schema.get("required", [])
    }


def _value(name: str, schema: Mapping[str, Any], seen: SeenRequest) -> Any:
    if "default" in schema:
        return schema["default"]
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type", "string")
    if kind == "string":
        return _item(seen) if name in ("item", "key", "work_item", "id") else _WORDS
    empty: dict[str, Any] = {"integer": 1, "number": 1, "boolean": False, "array": [], "object": {}}
    return empty.get(kind)


def _item(seen: SeenRequest) -> str:
    """The item the turn is about: the first one that its messages name."""
    for said in seen.messages:
        found = _ITEM.search(said.text)
        if found:
            return found[0]
    return ""
