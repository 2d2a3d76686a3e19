"""Creates the demo company where the store is empty, and hands its first goal to the tracker.

Nothing rehearses by itself: the document says `type: rehearsal`, and it says so only when the
environment held no key of a model vendor at the moment it was written.
"""

from __future__ import annotations

from importlib import resources
from typing import Any, Final, Protocol

from django.db import transaction

from crewlet.kernel.actors import engine_actor
from crewlet.kernel.errors import CrewletError, ErrorCode
from crewlet.kernel.events import announce
from orgs import epochs
from orgs.document.source import read
from orgs.events import DemoCreated
from orgs.models.company import Company
from orgs.people.founder import ensure_founder
from orgs.revisions import apply_document

FOUNDER: Final = "hanna"
FIRST_ASSIGNEE: Final = "chief"
FIRST_PROJECT: Final = "HQ"

ANTHROPIC_MODEL: Final = "claude-sonnet-5"
OPENAI_MODEL: Final = "gpt-5"


class Keys(Protocol):
    """The part of the environment that decides who thinks."""

    @property
    def anthropic_api_key(self) -> str: ...

    @property
    def openai_api_key(self) -> str: ...


def demo_document(keys: Keys) -> dict[str, Any]:
    """Gives the demo's document: with the vendor whose key the environment holds, else rehearsed.

    The key itself stays in the environment; the document names the variable.
    """
    data: dict[str, Any] = read(_text("company.yaml")).data
    data["providers"] = {"llm": {"default": _provider(keys)}}
    return data


def _provider(keys: Keys) -> dict[str, Any]:
    if keys.anthropic_api_key:
        return {
            "type": "anthropic",
            "model": ANTHROPIC_MODEL,
            "api_keys": ["${ANTHROPIC_API_KEY}"],
        }
    if keys.openai_api_key:
        return {"type": "openai", "model": OPENAI_MODEL, "api_keys": ["${OPENAI_API_KEY}"]}
    return {"type": "rehearsal"}


def first_goal() -> tuple[str, str]:
    """Gives the title and the body of the goal that the demo's founder files first."""
    heading, _, body = _text("goal.md").partition("\n")
    return heading.removeprefix("# ").strip(), body.strip()


def ensure_demo(keys: Keys) -> str | None:
    """Creates the demo company and its founder where no company was ever applied.

    Company, founder and first goal land in one transaction or not at all. Returns a line to show,
    or None when a company is there already.
    """
    if Company.objects.exclude(active_revision=None).exists():
        return None
    document = demo_document(keys)
    try:
        with transaction.atomic():
            applied = apply_document(
                engine_actor("demo"),
                document,
                summary="The demo company",
                create_only=True,
                source="setup",
            )
            assert applied.epoch is not None  # noqa: S101  # create_only has no base to lose to
            ensure_founder()
            title, body = first_goal()
            announce(
                DemoCreated(
                    epoch=applied.epoch,
                    founder_seat_id=epochs.active().seat_ids[FOUNDER],
                    goal_title=title,
                    goal_body=body,
                    project=FIRST_PROJECT,
                    assignee=FIRST_ASSIGNEE,
                )
            )
    except CrewletError as error:
        # Two `up` on one database: the other one was faster, and its company is as good.
        if error.code is ErrorCode.PRECONDITION_FAILED:
            return None
        raise
    return _line(document)


def _line(document: dict[str, Any]) -> str:
    kind = document["providers"]["llm"]["default"]["type"]
    if kind == "rehearsal":
        return (
            f"Created the demo company {document['name']}. Its seats rehearse: no model is called. "
            "Set ANTHROPIC_API_KEY or OPENAI_API_KEY before the first start to have them think."
        )
    return f"Created the demo company {document['name']}. Its seats think with {kind}."


def _text(name: str) -> str:
    return resources.files("orgs.demo").joinpath(name).read_text(encoding="utf-8")
