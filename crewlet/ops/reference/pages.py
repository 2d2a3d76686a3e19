"""The pages of docs/reference that are made from code; apps add what this floor cannot see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from crewlet.kernel.registry import Registry


@dataclass(frozen=True)
class Page:
    """One generated page: its title, the sentences before its tables, and who makes the rest."""

    title: str
    about: str
    body: Callable[[], str]


# The stem of a file in docs/reference → its page.
PAGES: Registry[Page] = Registry("reference pages")
# A noun ("turn") → the enum whose docstring holds the table of its states.
STATES: Registry[type[Enum]] = Registry("state tables")


def state_table(states: type[Enum]) -> str:
    """Gives the table of an enum's docstring; raises ValueError when there is none or when it
    leaves a member out."""
    lines = [line.strip() for line in (states.__doc__ or "").splitlines()]
    rows = [line for line in lines if line.startswith("|")]
    told = {row.strip("|").split("|")[0].strip() for row in rows[2:]}
    members = {str(member.value) for member in states}
    if told != members:
        odd = ", ".join(sorted(told ^ members))
        raise ValueError(
            f"The docstring of {states.__name__} needs a table with one row a member; see: {odd}."
        )
    return "\n".join("| " + " | ".join(_cells(row)) + " |" for row in rows)


def _cells(row: str) -> list[str]:
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    return ["---" if cell and not cell.strip("-") else cell for cell in cells]
