"""A bakery whose seats think with the scripted model server, and who talks to it from outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import httpx

from agents.models.mail import Delivery
from agents.models.turns import Turn
from crewlet.kernel import clock
from crewlet.kernel.actions import Door, perform
from crewlet.kernel.actors import Actor, engine_actor
from crewlet.kernel.authority import Grant
from crewlet.kernel.ids import new_id
from orgs.models.people import Credential, CredentialKind, Person
from orgs.models.seats import Seat
from orgs.people.actors import session_actor
from orgs.people.codes import digest_of, new_token
from orgs.revisions import apply_document
from tests.support.model_server import ModelServer
from tests.support.people import a_person
from tests.support.processes import free_port
from tests.support.script import ScriptedCall, SeenRequest, Step
from tests.support.until import until

SLOW = 45.0
BAKERS = ("baker", "miller", "carter")
TEXT = """\
name: Harbour Bakery
timezone: Europe/Lisbon
roles:
  - {name: Rita Founder, handle: rita, kind: human, email: rita@harbour.example, manages: [chief]}
units:
  - name: Bakery
    id: bakery
    lead: chief
    project: BAKE
    roles:
      - {name: Chief, handle: chief, goal: Keep the ovens busy}
      - {name: Baker, handle: baker, goal: Bake what was ordered}
      - {name: Miller, handle: miller, goal: Grind fine flour}
      - {name: Carter, handle: carter, goal: Bring it to the shops}
providers:
  llm:
"""
OPENAI = 'main: {{type: openai-compatible, model: scripted-1, base_url: "{server.openai_url}"}}'
ANTHROPIC = (
    'main: {{type: anthropic, model: claude-sonnet-5, base_url: "{server.url}", '
    "api_keys: [sk-test-0123456789abcdef]}}"
)


@dataclass
class Heard:
    """What the model server was asked, and how."""

    wires: set[str] = field(default_factory=set)
    streamed: int = 0
    prompts: list[str] = field(default_factory=list)

    def listen(self, play: Callable[[SeenRequest], Step]) -> Callable[[SeenRequest], Step]:
        """Returns the play, remembering every request."""

        def heard(seen: SeenRequest) -> Step:
            self.wires.add(seen.wire)
            self.streamed += seen.stream
            self.prompts.append(seen.text)
            return play(seen)

        return heard


def found(server: ModelServer | Nobody, provider: str = OPENAI) -> Person:
    """Applies the company on this model server; returns its founder, who may sign in."""
    text = TEXT + "    " + provider.format(server=server)
    apply_document(engine_actor("tests"), text, summary="A bakery")
    return a_person("rita.founder", seat=Seat.objects.get(handle="rita"))


class Nobody:
    """A model server that a test asks nothing: nothing listens there."""

    def __init__(self) -> None:
        self.openai_url = f"http://127.0.0.1:{free_port()}/v1"


def token_of(person: Person, *grants: Grant, label: str = "script") -> str:
    """A token of a person's for a day; it may read and work unless told otherwise."""
    value = new_token()
    Credential.objects.create(
        kind=CredentialKind.TOKEN, label=label, person=person, digest=digest_of(value),
        grants=[grant.value for grant in grants or (Grant.STATE_READ, Grant.WORK_WRITE)],
        created_at=clock.now(), created_by="tests", expires_at=clock.now() + timedelta(days=1),
    )  # fmt: skip
    return value


@contextmanager
def program(url: str, person: Person) -> Iterator[httpx.Client]:
    """A program of a person: REST with a personal token that may read and work."""
    value = token_of(person)
    with httpx.Client(
        base_url=f"{url}/api/v1", headers={"authorization": f"Bearer {value}"}, timeout=15
    ) as client:
        yield client


def sent(client: httpx.Client, path: str, body: dict[str, Any], method: str = "POST") -> Any:
    """Sends a write with an operation id of its own and returns the answer's JSON."""
    answer = client.request(method, path, json=body, headers={"Idempotency-Key": str(new_id())})
    assert answer.is_success, answer.text
    return answer.json()


def act(person: Person, name: str, **args: Any) -> Any:
    """Does an action as a person in this process; returns its data."""
    actor: Actor = session_actor(person)
    return perform(actor, name, args, op_id=str(new_id()), door=Door.REST).unwrap().data


def turns_of(handle: str) -> list[Turn]:
    """The turns of a seat, oldest first."""
    return list(Turn.objects.filter(seat__handle=handle).order_by("started_at"))


def at_rest() -> bool:
    """Nothing waits for a seat and no turn is open: without a new word nothing more happens."""
    return not Delivery.objects.exists() and not Turn.objects.exclude(stage="done").exists()


def until_rest(deadline: float = SLOW) -> None:
    """Waits until the company rests."""
    until(at_rest, deadline, what="the company rests")


def said(name: str, **arguments: Any) -> Step:
    """An answer of the model that is one call."""
    return Step(say=f"Now {name}.", calls=[ScriptedCall(name, arguments)])


def speaks_for(handle: str, seen: SeenRequest) -> bool:
    """Whether a request is a seat's own: its address stands in the head of the system prompt."""
    return f"@{handle}" in seen.system.partition("\n## ")[0]


def accepts(seen: SeenRequest) -> Step | None:
    """The reviewer's answer, None for an executor."""
    if "submit_review" in seen.tools:
        return said("submit_review", decision="done", completed_work="What was asked.", notes="")
    return None
