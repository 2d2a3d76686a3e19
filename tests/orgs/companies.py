"""Companies that tests apply: small, whole, written as a founder would."""

from __future__ import annotations

import textwrap

TWO_TEAMS = """\
name: Harbour Bakery
mission: Bread by six, every day
timezone: Europe/Lisbon
token_budget: {day: 100000}
providers:
  llm:
    zeta: {type: rehearsal}
    alpha: {type: rehearsal}
roles:
  - name: Rita Founder
    handle: rita
    kind: human
    email: rita@harbour.example
    manages: [chief]
  - name: Chief
    handle: chief
    goal: Keep the ovens busy
    manages: [baker-lead, shop-lead]
units:
  - name: Bakery
    id: bakery
    lead: baker-lead
    project: BAKE
    channel: ovens
    roles:
      - {name: Head Baker, handle: baker-lead, goal: Good bread}
      - {name: Baker, handle: baker, goal: Bake what was ordered}
    children:
      - name: Night Shift
        id: night
        roles:
          - {name: Night Baker, handle: night-baker, goal: Bake before six}
  - name: Shop
    id: shop
    lead: shop-lead
    project: SHOP
    roles:
      - {name: Shop Lead, handle: shop-lead, goal: Sell it fresh}
      - {name: Seller, handle: seller, goal: Know every customer}
"""


def company(text: str) -> str:
    """Gives a company whose name is there already; `text` adds to it."""
    return "name: Testing\n" + textwrap.dedent(text)


def without(text: str, *lines: str) -> str:
    """Gives the text without the lines that hold one of `lines`."""
    kept = [row for row in text.splitlines() if not any(part in row for part in lines)]
    return "\n".join(kept) + "\n"
