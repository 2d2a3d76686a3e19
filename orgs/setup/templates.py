"""The companies that a first run may begin with, as documents. Pure.

No template invents a person: the only human seat is the founder's, and only when asked for.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final


class Template(StrEnum):
    """What a new company begins with."""

    NEW = "new"
    ESTABLISHED = "established"
    EMPTY = "empty"


CEO: Final = "ceo"
FIRST_PROJECT: Final = "HQ"

Section = dict[str, Any]


def first_document(
    template: Template,
    *,
    name: str,
    mission: str,
    timezone: str,
    founder: str = "",
    provider: Section | None = None,
) -> Section:
    """Returns the document of a new company; a named `founder` sits at the top of the chart."""
    roles: list[Section] = []
    if founder:
        roles.append(_founder(founder, leads=template is not Template.EMPTY))
    if template is not Template.EMPTY:
        roles.append(_ceo([unit["lead"] for unit in _UNITS[template]]))
    document: Section = {"name": name, "mission": mission, "timezone": timezone}
    if provider:
        document["providers"] = {"llm": {"default": provider}}
    return document | {"roles": roles, "units": _UNITS[template]}


def _founder(name: str, *, leads: bool) -> Section:
    seat: Section = {
        "name": name,
        "handle": "founder",
        "kind": "human",
        "goal": "Decide what the company stands for and what it spends",
    }
    return seat | ({"manages": [CEO]} if leads else {})


def _ceo(manages: list[str]) -> Section:
    return {
        "name": "Chief Executive",
        "handle": CEO,
        "goal": "Turn aims into work that the units can finish, and hold the parts together",
        "responsibilities": [
            "Break an aim down by unit and give each part to its lead",
            "Settle in writing what the units disagree about",
            "Bring to the founder what is theirs to decide, with a recommendation",
        ],
        "manages": manages,
        "project": FIRST_PROJECT,
    }


def _unit(
    name: str, project: str, purpose: str, lead: Section, children: tuple[Section, ...] = ()
) -> Section:
    unit: Section = {
        "name": name,
        "id": name.lower().replace(" ", "-"),
        "purpose": purpose,
        "lead": lead["handle"],
        "project": project,
        "roles": [lead],
    }
    return unit | ({"children": list(children)} if children else {})


def _seat(name: str, handle: str, goal: str, manages: tuple[str, ...] = ()) -> Section:
    seat: Section = {"name": name, "handle": handle, "goal": goal}
    return seat | ({"manages": list(manages)} if manages else {})


_UNITS: Final[dict[Template, list[Section]]] = {
    Template.NEW: [
        _unit("Engineering", "ENG", "Builds what the company offers and keeps it "
              "running", _seat("Engineer", "engineer", "Working software in small finished steps")),
        _unit("Product", "PROD", "Knows who the company serves and what they need next",
              _seat("Product Lead", "product-lead", "One clear next thing to build, and why")),
        _unit("Marketing", "MKT", "Tells the people it is for that it exists",
              _seat("Marketing Lead", "marketing-lead", "Plain words that bring the right people")),
    ],
    Template.ESTABLISHED: [
        _unit("Engineering", "ENG", "Builds what the company offers",
              _seat("Head of Engineering", "head-of-engineering",
                    "A team that ships what was agreed", ("reliability-lead",)),
              (_unit("Reliability", "REL", "Keeps what was built running",
                     _seat("Reliability Lead", "reliability-lead",
                           "Faults found before customers find them")),)),
        _unit("Product", "PROD", "Knows who the company serves and what they need next",
              _seat("Head of Product", "head-of-product", "A plan that everybody can explain",
                    ("design-lead",)),
              (_unit("Design", "DES", "Makes it clear to use",
                     _seat("Design Lead", "design-lead",
                           "Every screen says what it is for")),)),
        _unit("Go to Market", "GTM", "Finds customers and hears from them",
              _seat("Head of Go to Market", "head-of-go-to-market",
                    "Customers who know what they get")),
    ],
    Template.EMPTY: [],
}  # fmt: skip
