"""What the palette finds among items, and what it does with the item that is open."""

from __future__ import annotations

from crewlet.console.registries import PaletteAnswer, PaletteRow
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from crewlet.kernel.errors import Unavailable
from orgs import epochs
from orgs.chart import ChartSeat
from tracker.queries import pages as queries
from tracker.queries.search import SAID, found_items

LEAST_LETTERS = 2
MOST = 24
NO_ITEM = "Open an item, or peek at one, first."
_TOLD = ("building", "failed")


def find(actor: Actor, text: str) -> PaletteAnswer:
    """Returns items that hold the words, best first, then those whose title holds the letters.

    A word that is still being typed is no whole word, so the letters of titles count too.
    """
    if len(text) < LEAST_LETTERS:
        return PaletteAnswer([])
    found = found_items(actor, text, MOST)
    rows = {
        item["key"]: PaletteRow(
            f"{item['key']} {item['title']}", item["url"], "kanban",
            str(item["status"]).replace("_", " ").capitalize(),
        )
        for item in found["items"]
    }  # fmt: skip
    for row in queries.find_items(actor, text, MOST):
        rows.setdefault(
            row["key"],
            PaletteRow(f"{row['key']} {row['title']}", row["url"], "kanban", row["status_name"]),
        )
    note = SAID[found["state"]] if found["state"] in _TOLD else ""
    return PaletteAnswer(list(rows.values()), found["mode"] if rows or note else "", note)


def acts(actor: Actor, text: str, ref: str) -> list[PaletteRow]:
    """Returns what can be done here: assign, ask, create; what cannot is drawn with its reason."""
    kind, _, ident = ref.partition(":")
    item = ident if kind == "item" else ""
    project = ident if kind == "project" else item.rpartition("-")[0]
    missing = "" if Grant.WORK_WRITE in actor.grants else f"It needs the grant {Grant.WORK_WRITE}."
    return [
        _assign(item, text, missing),
        _ask(item, text, missing),
        _create(project, text, missing),
    ]


def _assign(item: str, text: str, missing: str) -> PaletteRow:
    agent = _only(text)
    reason = missing or ("" if item else NO_ITEM)
    reason = reason or ("" if agent else "Type a name that exactly one agent has.")
    return PaletteRow(
        f"Assign {item} to {agent.name}" if agent and item else "Assign the open item",
        "", "user-round", reason=reason, keys="Alt+A", press="alt+a", verb="update_work_item",
        fields=(("item", item), ("assignee", agent.handle if agent else "")),
    )  # fmt: skip


def _ask(item: str, text: str, missing: str) -> PaletteRow:
    name, _, question = text.partition(" ")
    agent = _called(name.rstrip(",:"))
    asked = question.strip()
    reason = missing or ("" if item else NO_ITEM)
    reason = reason or ("" if agent and asked else "Type an agent's name, then the question.")
    return PaletteRow(
        f"Ask {agent.name} on {item}: {asked}" if not reason and agent else "Ask an agent",
        "", "message-square", reason=reason, keys="Ctrl+Enter", press="mod+Enter",
        verb="comment_on_work_item",
        fields=(("item", item), ("ask", agent.handle if agent else ""), ("body", asked)),
    )  # fmt: skip


def _create(project: str, text: str, missing: str) -> PaletteRow:
    where = f" in {project}" if project else ""
    reason = missing or ("" if len(text) >= LEAST_LETTERS else "Type its title first.")
    fields = (("title", text), ("next", "{ref}"))
    return PaletteRow(
        f"Create “{text}”{where}" if text else "Create an item",
        "", "square-pen", reason=reason, keys="Alt+C", press="alt+c", verb="create_work_item",
        fields=(*fields, ("project", project)) if project else fields,
    )  # fmt: skip


def _agents() -> list[ChartSeat]:
    try:
        return [seat for seat in epochs.active().chart.walk() if seat.is_agent]
    except Unavailable:
        return []


def _only(text: str) -> ChartSeat | None:
    """Returns the agent whose handle or name holds the text, when it is one alone."""
    wanted = text.strip().lower()
    if len(wanted) < LEAST_LETTERS:
        return None
    exact = _called(wanted)
    if exact:
        return exact
    found = [seat for seat in _agents() if wanted in f"{seat.handle} {seat.name}".lower()]
    return found[0] if len(found) == 1 else None


def _called(word: str) -> ChartSeat | None:
    """Returns the agent that goes by this handle or piece of a name, when it is one alone."""
    wanted = word.lower()
    found = [seat for seat in _agents() if wanted in (seat.handle, *seat.name.lower().split())]
    return found[0] if len(found) == 1 else None
