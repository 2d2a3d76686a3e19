"""Settings: a column of sections in groups, each a page; what may not be read is said instead."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string

from crewlet.console.pages import actor_of, draw, fragment, page
from crewlet.console.registries import SETTINGS_GROUPS, SETTINGS_SECTIONS, SettingsSection
from crewlet.kernel.actors import Actor


@page
def settings(request: HttpRequest) -> HttpResponse:
    """Goes to the first section."""
    return redirect(f"/settings/{_ordered()[0][0]}")


@page
def settings_section(request: HttpRequest, key: str) -> HttpResponse:
    """Draws one section beside the column of all of them."""
    section = _named(key)
    context = {
        "key": key,
        "section": section,
        "groups": _groups(actor_of(request), key),
        "body": _body(request, key, section),
    }
    return draw(request, "console/settings.html", context)


@fragment
def settings_body(request: HttpRequest, key: str) -> HttpResponse:
    """Draws a section alone, as it stands on its page."""
    return HttpResponse(_body(request, key, _named(key)))


def may_read(actor: Actor, section: SettingsSection) -> bool:
    """Whether the actor holds the grant that a section needs."""
    return section.grant is None or section.grant in actor.grants


def _body(request: HttpRequest, key: str, section: SettingsSection) -> str:
    actor, query = actor_of(request), request.GET
    allowed = may_read(actor, section)
    inner = ""
    if allowed:
        inner = render_to_string(section.template, dict(section.context(actor, query)), request)
    context = {
        "key": key,
        "section": section,
        "allowed": allowed,
        "inner": inner,
        "query": query.urlencode(),
    }
    return render_to_string("console/_settings_body.html", context, request)


def _named(key: str) -> SettingsSection:
    section = SETTINGS_SECTIONS.get(key)
    if section is None:
        raise Http404(f"Settings has no section '{key}'.")
    return section


def _ordered() -> list[tuple[str, SettingsSection]]:
    return sorted(
        SETTINGS_SECTIONS.items(),
        key=lambda entry: (SETTINGS_GROUPS.index(entry[1].group), entry[1].order),
    )


def _groups(actor: Actor, here: str) -> list[dict[str, Any]]:
    """Returns the column: no row is ever hidden, a row beyond the reader's rights has a key."""
    groups: list[dict[str, Any]] = []
    for key, section in _ordered():
        if not groups or groups[-1]["title"] != section.group:
            groups.append({"title": section.group, "rows": []})
        groups[-1]["rows"].append(
            {
                "title": section.title,
                "icon": section.icon,
                "url": f"/settings/{key}",
                "here": key == here,
                "locked": not may_read(actor, section),
            }
        )
    return groups
