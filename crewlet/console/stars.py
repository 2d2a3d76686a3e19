"""The star in the bar: whether the object of a page is kept at hand, and why it cannot be."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse

from crewlet.console.pages import actor_of, draw, fragment
from crewlet.console.registries import OBJECT_PAGES, STARS
from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import NotFound
from crewlet.kernel.refs import REF_KINDS

NOBODY = "Stars are kept for people, and this sign-in belongs to no person."


@fragment
def star(request: HttpRequest, kind: str, ident: str) -> HttpResponse:
    """Draws the star of one object again."""
    if kind not in REF_KINDS:
        raise NotFound(f"Nothing can be starred as '{kind}:{ident}'.")
    return draw(request, "ui/star.html", {"star": face(actor_of(request), f"{kind}:{ident}")})


def ref_of(request: HttpRequest) -> str:
    """Returns the reference of the object that a page is about, or an empty string."""
    match = getattr(request, "resolver_match", None)
    if match is None:
        return ""
    page = OBJECT_PAGES.get(match.url_name or "")
    return f"{page.kind}:{page.spelled(match.kwargs[page.part])}" if page else ""


def face(actor: Actor, ref: str) -> dict[str, Any]:
    """Returns what the star shows: drawn for everyone, with the reason where it does nothing."""
    starred = any(ref in read(actor) for read in STARS.values())
    return {
        "ref": ref,
        "src": f"/ui/star/{ref.replace(':', '/', 1)}",
        "on": starred,
        "kind": ref.partition(":")[0],
        "reason": "" if actor.person_id else NOBODY,
    }
