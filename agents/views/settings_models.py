"""Settings, models and keys: which models think for the company, and which of their keys cool."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict

from agents.llm.standing import providers
from crewlet.console.registries import SETTINGS_SECTIONS, SettingsSection
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant

LACKS_WRITE = "Testing a model takes the grant config:write, which you lack."
TONES = {"serving": "done", "cooling": "need", "unset": "stop"}
REASONS = {"rate_limit": "limit reached", "auth": "refused"}


def register_models() -> None:
    """Registers the section; `agents.registrations` calls it."""
    SETTINGS_SECTIONS.register(
        "models",
        SettingsSection(
            "Models and keys", 30, "agents/_settings_models.html", models, group="Connect",
            icon="brain", grant=Grant.STATE_READ, topics="health",
        ),
    )  # fmt: skip


def models(actor: Actor, query: QueryDict) -> dict[str, Any]:
    """Returns the models as they stand, and why one cannot be tested where it cannot."""
    lack = "" if Grant.CONFIG_WRITE in actor.grants else LACKS_WRITE
    found = providers()
    for entry in found:
        test = entry["test"]
        waits = "A test of it runs." if test and test["state"] != "done" else ""
        entry["no_test"] = lack or waits
        entry["tone"] = TONES[entry["state"]]
        for one in entry["keys"]:
            one["name"] = _name(one)
            one["why"] = REASONS.get(one["reason"], "")
    keyed = any(entry["keys"] or entry["keys_missing"] for entry in found)
    return {"providers": found, "keyed": keyed}


def _name(one: dict[str, Any]) -> str:
    if one["variable"]:
        return str(one["variable"])
    return "written in the document" if one["digest"] else "no key needed"
