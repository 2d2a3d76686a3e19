"""What a person prefers and starred, as plain data."""

from __future__ import annotations

from typing import Any
from zoneinfo import available_timezones

from crewlet.kernel.actors import Actor
from crewlet.kernel.refs import label_of, url_of
from orgs.models.preferences import Preference, Star

MAX_STARS = 50
THEMES = (("", "As the system"), ("light", "Light"), ("dark", "Dark"))
DENSITIES = (("", "Cosy"), ("compact", "Compact"))
DATE_STYLES = (
    ("", "29 Nov 2026, 22:46"),
    ("iso", "2026-11-29 22:46"),
    ("us", "Nov 29, 2026, 10:46 PM"),
)
DEFAULTS: dict[str, Any] = {
    "theme": "",
    "density": "",
    "timezone": "",
    "date_style": "",
    "single_keys": True,
}


def preferences_of(actor: Actor) -> dict[str, Any]:
    """Returns what the actor prefers; the defaults for who is no person or never chose."""
    if actor.person_id is None:
        return dict(DEFAULTS)
    found = Preference.objects.filter(person_id=actor.person_id).values(*DEFAULTS).first()
    return dict(found) if found else dict(DEFAULTS)


def stars_of(actor: Actor) -> list[str]:
    """Returns the references that the actor starred, the newest first."""
    if actor.person_id is None:
        return []
    stars = Star.objects.filter(person_id=actor.person_id).order_by("-at", "-id")
    return list(stars.values_list("ref", flat=True)[:MAX_STARS])


def starred_rows(actor: Actor) -> list[dict[str, Any]]:
    """Returns the rows of the sidebar for what the actor starred and what still opens."""
    rows = []
    for ref in stars_of(actor):
        url = url_of(ref)
        if url:
            kind, _, ident = ref.partition(":")
            label = label_of(ref)
            chip = ident.partition("-")[0][:6] if kind == "item" else kind[:6]
            rows.append({"chip": chip, "label": label, "url": url, "figure": "", "words": ""})
    return rows


def zones() -> list[str]:
    """Returns the names of time zones that people choose from."""
    return sorted(name for name in available_timezones() if "/" in name or name == "UTC")
