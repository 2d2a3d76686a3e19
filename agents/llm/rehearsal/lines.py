"""What the players say: prose made of the request's own words."""

from __future__ import annotations

from typing import Any

from agents.llm.rehearsal.situation import Colleague, Situation

_FIRST_OF_FIRST = "This is part 1 of part 1"


def forgets_the_result(body: str) -> bool:
    """Returns whether this part is the one that is handed in without its result."""
    return _FIRST_OF_FIRST in body


def part(
    now: Situation, own_body: str, report: Colleague, place: int, count: int
) -> tuple[str, str]:
    """Returns the title and text of the part that a report gets."""
    what = report.goal.rstrip(".") or f"{report.name}'s side of it"
    title = f"{what[:180]}, for {now.item}"
    first = place == 1 and "This is part 1 of" in own_body
    which = "part 1 of part 1" if first else f"part {place} of {count}"
    body = (
        f"This is {which} of **{now.item} {now.title}**.\n\n"
        f"@{report.handle}, take the side of it that you answer for. Done means: the result stands "
        "here as a comment, with what you checked and what is still open."
    )
    return title, body


def plan(now: Situation, titles: list[str]) -> str:
    """Returns the comment that tells the plan."""
    listed = "\n".join(f"- {title}" for title in titles)
    return (
        f"I split this by what each of us answers for:\n\n{listed}\n\n"
        "Each part reports on its own item. I report here when all of them are finished."
    )


def result(now: Situation) -> str:
    """Returns a member's report."""
    return (
        "**Result.** I went through it from where I stand and propose one small step.\n\n"
        "- **Checked:** the item, what it is a part of, and what was decided before.\n"
        "- **Proposed:** the smallest step that shows a customer something this week, and a date "
        "to look at it again.\n"
        "- **Open:** nothing that holds this up."
    )


def report_up(parts: list[str]) -> str:
    """Returns a lead's report when its parts are finished."""
    results = f"All {len(parts)} parts are" if len(parts) > 1 else "The one part is"
    return (
        f"{results} finished; what came of it stands on {', '.join(parts)}. Nothing speaks against "
        "the first step. I close this; it is ready to be put together."
    )


def ask_body(now: Situation, person: Colleague) -> str:
    """Returns the words around the decision that a person is asked for."""
    return (
        f"@{person.handle}, both teams have reported and agree on the first step. How we go on "
        "from here is yours to decide."
    )


def decision(now: Situation) -> dict[str, Any]:
    """Returns the decision that a person is asked for."""
    return {
        "question": f"How should we go on with “{now.title}”?"[:300],
        "role": "approver",
        "options": [
            {
                "id": "start",
                "label": "Start with the first step now",
                "detail": "The teams begin this week and report on Friday.",
            },
            {
                "id": "sharpen",
                "label": "Sharpen the plan first",
                "detail": "Two days more to put numbers on both proposals.",
            },
            {
                "id": "hold",
                "label": "Hold it for now",
                "detail": "The results stay on record; nobody works on it.",
            },
        ],
        "recommended": "start",
        "rationale": "The first step is small, both teams agree on it, and it can be undone.",
    }


def closing(now: Situation) -> str:
    """Returns the comment that ends the goal."""
    return (
        "Thank you, that settles it. The results of both teams stand on their items; I record your "
        "decision here and close this."
    )


def reply(now: Situation) -> str:
    """Returns an answer to whoever spoke."""
    to = f"@{now.sender}, " if now.sender and now.sender_kind in ("human", "operator") else ""
    return (
        f"{to}I have read this and keep it with the item. As {now.name} I see to it that it is "
        "part of what we hand over. If it changes what is to be done, say so and I take it up "
        "again."
    )


def to_colleague(now: Situation) -> str:
    """Returns what a colleague's question is answered with."""
    angle = now.goal.rstrip(".") or "what I answer for"
    return (
        f"From where I stand ({angle[0].lower()}{angle[1:]}), go ahead; I see nothing against it."
    )
