"""The first run: name the company, look at its chart, make it run. Works without JavaScript."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from crewlet.console.pages import actor_of, draw, page
from crewlet.kernel.actions import ACTIONS, parse_args
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from crewlet.kernel.errors import CrewletError
from orgs import epochs
from orgs.chart import Chart
from orgs.managed import why_not
from orgs.queries.preferences import zones
from orgs.revisions import checked_reading, invalid_document
from orgs.setup.actions import CreateCompany, document_of
from orgs.setup.templates import CEO, Template
from orgs.setup.thinking import offers, read_choice

TEMPLATES = (
    (Template.NEW, "A new company", "A chief executive, and Engineering, Product and Marketing "
     "with one agent each."),
    (Template.ESTABLISHED, "An established company", "A chief executive, Engineering with "
     "Reliability, Product with Design, Go to Market; each has a lead."),
    (Template.EMPTY, "Empty", "Nothing but your own seat. You build the chart yourself."),
)  # fmt: skip
LACKS = "Setting up the company takes the grant config:write, which you lack."


@page
def setup(request: HttpRequest) -> HttpResponse:
    """Draws the form; with a name in the address also the chart that it would make."""
    if epochs.current() is not None:
        return redirect("/setup/done")
    actor = actor_of(request)
    given = {name: request.GET.get(name, "").strip() for name in _FIELDS}
    context: dict[str, Any] = {
        "given": _with_defaults(given, actor),
        "templates": TEMPLATES,
        "zones": zones(),
        "offers": offers(),
        "reason": why_not(actor) if Grant.CONFIG_WRITE in actor.grants else LACKS,
        "error": None,
        "preview": None,
    }
    if "name" in request.GET:
        try:
            context |= _preview(given)
        except CrewletError as error:
            context["error"] = error
    status = 422 if context["error"] else 200
    response = draw(request, "orgs/setup.html", context)
    response.status_code = status
    return response


@page
def done(request: HttpRequest) -> HttpResponse:
    """Says that the company runs, and what to do first."""
    if epochs.current() is None:
        return redirect("/setup")
    snapshot = epochs.active()
    llm = snapshot.document.providers.llm
    agents = [seat for seat in snapshot.chart.walk() if seat.is_agent]
    context = {
        "document": snapshot.document,
        "agents": len(agents),
        "first": CEO if CEO in snapshot.chart.seats else (agents[0].handle if agents else ""),
        "chart": _outline(snapshot.chart),
        "model": next(iter(llm.values()), None),
    }
    return draw(request, "orgs/setup_done.html", context)


_FIELDS = ("name", "mission", "timezone", "template", "founder", "think")


def _with_defaults(given: dict[str, str], actor: Actor) -> dict[str, str]:
    if given["name"] or given["template"]:
        return given
    return {**given, "template": Template.NEW.value, "timezone": "UTC", "founder": actor.name}


def _preview(given: dict[str, str]) -> dict[str, Any]:
    args = {name: value for name, value in given.items() if value and name != "think"}
    args |= {name: value for name, value in read_choice(given["think"]).items() if value}
    parsed = parse_args(ACTIONS.named("create_company"), args)
    assert isinstance(parsed, CreateCompany)  # noqa: S101  # the registry's own model
    reading = checked_reading(document_of(parsed))
    if reading.problems:
        raise invalid_document([problem.to_json() for problem in reading.problems])
    return {"preview": _outline(reading.chart), "args": parsed.model_dump(mode="json")}


def _outline(chart: Chart) -> dict[str, Any]:
    """The chart as nested plain data: who stands at the top, then the units."""

    def unit(key: str) -> dict[str, Any]:
        found = chart.units[key]
        return {
            "name": found.name,
            "purpose": found.purpose,
            "seats": [_seat(chart, handle) for handle in found.members],
            "children": [unit(child) for child in found.children],
        }

    return {
        "seats": [_seat(chart, seat.handle) for seat in chart.walk() if not seat.unit],
        "units": [unit(found.key) for found in chart.walk_units() if found.parent is None],
        "count": len(chart.seats),
    }


def _seat(chart: Chart, handle: str) -> dict[str, Any]:
    seat = chart.seats[handle]
    return {"name": seat.name, "handle": handle, "kind": seat.kind, "goal": seat.goal}
