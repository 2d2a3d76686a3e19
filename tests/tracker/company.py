"""The company of the tracker's tests, and short ways to act in it."""

from __future__ import annotations

from typing import Any

from agents.models.mail import Delivery
from crewlet.kernel.actions import Door, Outcome, Result, perform
from crewlet.kernel.actors import Actor
from tracker.models.items import WorkItem

COMPANY = """\
name: Lantern Works
mission: Light where it is needed
timezone: Asia/Tokyo
providers:
  llm:
    play: {type: rehearsal}
roles:
  - {name: Ana, handle: ana, kind: human, email: ana@lantern.example, manages: [agent-cto, omar]}
units:
  - name: Engineering
    id: eng
    lead: agent-cto
    project: ENG
    purpose: Builds the lamps
    roles:
      - {name: Chief Engineer, handle: agent-cto, goal: Lamps that last}
      - {name: Software Engineer, handle: agent-swe, goal: Firmware}
      - {name: Tester, handle: qa, goal: Find it first}
  - name: Operations
    id: ops
    lead: omar
    project: OPS
    roles:
      - {name: Omar, handle: omar, kind: human, email: omar@lantern.example}
      - {name: Packer, handle: packer, goal: Pack what was ordered}
"""
ACTORS = {"swe": "agent-swe", "cto": "agent-cto"}


def act(actor: Actor, name: str, op_id: str | None = None, **args: Any) -> Result:
    """Does an action by the door of its actor and returns its result; raises a refusal."""
    return attempt(actor, name, op_id, **args).unwrap()


def attempt(actor: Actor, name: str, op_id: str | None = None, **args: Any) -> Outcome:
    """Does an action by the door of its actor and returns what became of it."""
    door = Door.TOOL if actor.is_agent else Door.REST
    return perform(actor, name, args, op_id=op_id, door=door)


def create(actor: Actor, title: str = "Fix the switch", **args: Any) -> WorkItem:
    """Files an item and returns its row."""
    result = act(actor, "create_work_item", title=title, **args)
    return WorkItem.objects.get(key=result.data["key"])


def update(actor: Actor, item: WorkItem, **args: Any) -> Result:
    """Changes an item and refreshes its row."""
    result = act(actor, "update_work_item", item=item.key, **args)
    item.refresh_from_db()
    return result


def comment(actor: Actor, item: WorkItem, body: str, **args: Any) -> Result:
    """Comments on an item and refreshes its row."""
    result = act(actor, "comment_on_work_item", item=item.key, body=body, **args)
    item.refresh_from_db()
    return result


def mail(handle: str) -> list[Delivery]:
    """Returns what waits for an agent, oldest first."""
    return list(Delivery.objects.filter(seat__handle=handle, seat__removed_at=None).order_by("seq"))


def reasons(handle: str) -> list[str]:
    """Returns why an agent was woken, oldest first."""
    return [letter.payload["reason"] for letter in mail(handle)]


def read_mail(*handles: str) -> None:
    """Takes the mail out of boxes, so that a test sees what comes next."""
    Delivery.objects.filter(seat__handle__in=handles).delete()
