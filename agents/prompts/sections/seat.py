"""Sections about the seat and its company: the same bytes in every turn of one revision."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agents.prompts.outline import Section
from agents.prompts.prose import prose

if TYPE_CHECKING:
    from orgs.chart import ChartSeat
    from orgs.epochs import Snapshot


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line.strip()}" for line in lines if line.strip())


def _titled(key: str, title: str, text: str) -> Section:
    return Section(key, title, f"## {title}\n\n{text}" if text.strip() else "")


def identity(snapshot: Snapshot, seat: ChartSeat) -> Section:
    """Who the seat is."""
    text = prose("identity", name=seat.name, handle=seat.handle, company=snapshot.document.name)
    return Section("identity", "Identity", text)


def company_context(snapshot: Snapshot) -> Section:
    """What the company is for."""
    document = snapshot.document
    lines = [("Mission", document.mission), ("Vision", document.vision)]
    text = "\n\n".join(f"**{label}.** {value.strip()}" for label, value in lines if value)
    return _titled("company_context", "The company", text)


def background(seat: ChartSeat) -> Section:
    """What the seat is for and where it comes from."""
    parts = [f"**Your goal.** {seat.goal.strip()}" if seat.goal else "", seat.backstory or ""]
    return _titled("background", "Your background", "\n\n".join(part for part in parts if part))


def responsibilities(seat: ChartSeat) -> Section:
    """What the seat answers for."""
    return _titled("responsibilities", "Your responsibilities", _bullets(seat.responsibilities))


def behavioral_guidelines(seat: ChartSeat) -> Section:
    """How the seat behaves."""
    return _titled("behavioral_guidelines", "How you work", _bullets(seat.behavioral_guidelines))


def unit(snapshot: Snapshot, seat: ChartSeat) -> Section:
    """The team, its lead and its members."""
    if not seat.unit:
        return Section("unit", "Unit", "")
    chart = snapshot.chart
    team = chart.units[seat.unit]
    lines = [f"You are in **{team.name}**." + (f" {team.purpose.strip()}" if team.purpose else "")]
    if team.goals:
        lines.append(_bullets(team.goals))
    lead = chart.effective_lead(team.key)
    if lead and lead != seat.handle:
        lines.append(f"Its lead is {_named(snapshot, lead)}.")
    manager = chart.primary_manager(seat.handle)
    if manager and manager != lead:
        lines.append(f"You report to {_named(snapshot, manager)}.")
    others = [name for name in team.members if name not in (seat.handle, lead)]
    if others:
        lines.append("With you: " + ", ".join(_named(snapshot, name) for name in others) + ".")
    if team.project:
        lines.append(f"Its work lives in project {team.project}.")
    return _titled("unit", "Your unit", "\n\n".join(lines))


def _named(snapshot: Snapshot, handle: str) -> str:
    seat = snapshot.chart.seats[handle]
    person = ", a person" if seat.kind == "human" else ""
    return f"{seat.name} (@{handle}{person})"


def policies(snapshot: Snapshot) -> Section:
    """The company's rules, in their order."""
    lines = [f"{n}. {rule.strip()}" for n, rule in enumerate(snapshot.document.policies, 1)]
    return _titled("policies", "Company policy", "\n".join(lines))


def team(snapshot: Snapshot, seat: ChartSeat) -> Section:
    """A lead's direct reports with what each is for; empty for everybody else."""
    cards = [_report(snapshot, handle) for handle in sorted(snapshot.chart.reports(seat.handle))]
    intro = "You lead these seats. File work for them as items; they are woken by the assignment."
    return _titled("team", "Your team", "\n\n".join([intro, *cards]) if cards else "")


def _report(snapshot: Snapshot, handle: str) -> str:
    seat = snapshot.chart.seats[handle]
    lines = [f"### {seat.name} (@{handle}{', a person' if seat.kind == 'human' else ''})"]
    if seat.goal:
        lines.append(seat.goal.strip())
    if seat.responsibilities:
        lines.append(_bullets(seat.responsibilities))
    return "\n\n".join(lines)


def human_colleagues(snapshot: Snapshot) -> Section:
    """The people of the company and how they are reached."""
    people = [seat for seat in snapshot.chart.seats.values() if seat.kind == "human"]
    lines = sorted(f"{seat.name} (@{seat.handle})" for seat in people)
    text = "Reach a person by mentioning or asking them on an item; they answer in their own time."
    return _titled(
        "human_colleagues", "People you work with", f"{text}\n\n{_bullets(lines)}" if lines else ""
    )
