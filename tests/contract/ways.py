"""Each door as its users find it: how a call goes in, and what it says in one shape."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpResponse

from agents.llm.base import ToolCallPart
from agents.tools.registry import surface
from agents.tools.run_call import CallResult, run_call
from crewlet.doors import cli
from crewlet.kernel.actions import ACTIONS, Door
from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import CrewletError
from orgs.models.people import Person
from tests.contract.world import World

Caller = Person | Actor | None
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_WHERE = re.compile(r"epoch \d+")


@dataclass(frozen=True)
class Said:
    """What a door answered. `status` is HTTP's at the doors that have one."""

    ok: bool
    message: str
    refs: tuple[str, ...] = ()
    keys: frozenset[str] | None = None
    code: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)
    status: int = 0
    replayed: bool | None = None

    @property
    def alike(self) -> tuple[bool, str, tuple[str, ...]]:
        """What has to be the same at every door: ids and epochs of a call are its own."""
        return self.ok, plain(self.message), tuple(plain(ref) for ref in self.refs)


def plain(text: str) -> str:
    """Returns a sentence without the ids that differ from call to call."""
    return _WHERE.sub("epoch #", _UUID.sub("<id>", text))


def rest(
    world: World, who: Caller, name: str, args: Mapping[str, Any], op_id: str
) -> Callable[[], Said]:
    """`POST /api/v1/act/<name>` as a signed-in person."""
    assert isinstance(who, Person)
    client = world.browser(who)

    def call() -> Said:
        answer: Any = client.post(
            f"/api/v1/act/{name}",
            json.dumps(args, default=str),
            content_type="application/json",
            headers={"Idempotency-Key": op_id},
        )
        body = answer.json()
        if answer.status_code == 200:
            return Said(
                True, body["message"], tuple(body["refs"]), frozenset(body["result"]),
                status=200, replayed=body["replayed"],
            )  # fmt: skip
        return Said(
            False, body["message"], code=body["error"], detail=body["detail"],
            status=answer.status_code,
        )  # fmt: skip

    return call


def form(
    world: World, who: Caller, name: str, args: Mapping[str, Any], op_id: str
) -> Callable[[], Said]:
    """A form of a page, posted by htmx."""
    assert isinstance(who, Person)
    client = world.browser(who)

    def call() -> Said:
        answer: Any = client.post(f"/act/{name}", {**fields(args), "op_id": op_id})
        if answer.status_code == 204:
            told = json.loads(answer["HX-Trigger"])["cw:done"]
            return Said(True, told["message"], tuple(told["refs"]), status=204)
        return _refused_form(answer)

    return call


def _refused_form(answer: HttpResponse) -> Said:
    page = answer.content.decode()
    found = re.search(r'data-code="([a-z_]+)"', page)
    words = re.search(r"<span>(?:<b>(.*?):</b> )?(.*?)</span></p>", page, re.DOTALL)
    assert found, f"no refusal in {page[:300]!r}"
    assert words, f"no words in {page[:300]!r}"
    detail = {"field": words[1]} if words[1] else {}
    return Said(
        False, html.unescape(words[2]), code=found[1], detail=detail, status=answer.status_code
    )


def fields(args: Mapping[str, Any], under: str = "") -> dict[str, Any]:
    """Returns arguments as a form sends them: nested ones by dots, lists by repeating a name."""
    flat: dict[str, Any] = {}
    for key, value in args.items():
        name = f"{under}{key}"
        if value is None:
            flat[f"null:{name}"] = "1"
        elif isinstance(value, Mapping):
            flat |= fields(value, f"{name}.")
        elif isinstance(value, (list, tuple)) and value and isinstance(value[0], Mapping):
            flat |= fields({str(n): part for n, part in enumerate(value)}, f"{name}.")
        elif isinstance(value, (list, tuple)):
            flat[name] = [str(part) for part in value]
        elif isinstance(value, bool):
            flat[name] = "true" if value else "false"
        else:
            flat[name] = str(value)
    return flat


def terminal(
    world: World, who: Caller, name: str, args: Mapping[str, Any], op_id: str
) -> Callable[[], Said]:
    """The operator's shell."""

    def call() -> Said:
        try:
            result = cli.act(name, dict(args), op_id=op_id)
        except CrewletError as error:
            return Said(False, error.message, code=error.code.value, detail=error.detail)
        return Said(True, result.message, result.refs, frozenset(result.data))

    return call


def assistant(
    world: World, who: Caller, name: str, args: Mapping[str, Any], op_id: str
) -> Callable[[], Said]:
    """A person's own assistant, over the operator MCP."""
    assert isinstance(who, Person)
    client = world.browser(who)
    given = dict(args) if ACTIONS[name].reads else {**args, "op_id": op_id}
    message = {
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": name, "arguments": given},
    }  # fmt: skip

    def call() -> Said:
        answer: Any = client.post(
            "/operator/mcp",
            json.dumps(message, default=str),
            content_type="application/json",
            headers={"accept": "application/json, text/event-stream"},
        )
        if answer.status_code == 401:
            body = answer.json()
            return Said(False, body["message"], code=body["error"], status=401)
        result = answer.json()["result"]
        told = result["structuredContent"]
        if result.get("isError"):
            return Said(False, told["message"], code=told["error"], detail=told["detail"])
        return Said(
            True, told["message"], tuple(told["refs"]), frozenset(told["data"]),
            replayed=told["replayed"],
        )  # fmt: skip

    return call


@dataclass
class _Landing:
    """The journal of a call, which here only remembers what landed with the write."""

    op_id: str
    scope: str = ""
    landed: list[CallResult] = field(default_factory=list)

    def fence(self) -> None:
        """This seat is held."""

    def land(self, result: CallResult) -> None:
        """Keeps the result."""
        self.landed.append(result)


def tool(
    world: World, who: Caller, name: str, args: Mapping[str, Any], op_id: str
) -> Callable[[], Said]:
    """A tool call of an agent seat in a turn."""
    assert isinstance(who, Actor)
    actor, journal = who, _Landing(op_id)
    offered = {tool.name: tool for tool in surface(world.snapshot, actor.handle or "", "execute")}
    text = json.dumps(args, default=str)
    part = ToolCallPart(new_call_id(name), name, json.loads(text), text)

    def call() -> Said:
        result = run_call(offered[name], part, actor, journal)
        if not ACTIONS[name].reads and result.ok:
            assert journal.landed[-1] == result, "the journal landed another result"
        message = result.text.partition("\n{")[0] if result.data else result.text
        return Said(result.ok, message, result.refs, frozenset(result.data))

    return call


def new_call_id(name: str) -> str:
    """An id as a vendor gives one."""
    return f"call_{name}"


Way = Callable[[World, Caller, str, Mapping[str, Any], str], Callable[[], Said]]
WAYS: Mapping[Door, Way] = {
    Door.REST: rest,
    Door.FORM: form,
    Door.CLI: terminal,
    Door.TOOL: tool,
    Door.MCP: assistant,
}
"""How the suite goes through each door. A door without a way fails `test_every_door_is_walked`."""
