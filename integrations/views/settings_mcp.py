"""Settings, MCP servers: where tools come from, how each server stands, and what its tools do."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict

from crewlet.console.registries import SETTINGS_SECTIONS, SettingsSection
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from integrations.mcp.standing import servers

LACKS_WRITE = "Asking a server anew takes the grant config:write, which you lack."
TONES = {"ready": "done", "failed": "stop", "unset": "need", "new": "idle"}
WORDS = {"ready": "ready", "failed": "not answering", "unset": "not set up", "new": "not used yet"}
HINTS = {
    "read_only": {"yes": "reads only", "no": "changes things"},
    "destructive": {"yes": "may destroy", "no": "destroys nothing"},
    "idempotent": {"yes": "may be repeated"},
    "open_world": {"yes": "reaches outside", "no": "stays inside"},
}


def register_servers() -> None:
    """Registers the section; `integrations.registrations` calls it."""
    SETTINGS_SECTIONS.register(
        "mcp-servers",
        SettingsSection(
            "MCP servers", 40, "integrations/_settings_mcp.html", mcp_servers, group="Connect",
            icon="plug", grant=Grant.STATE_READ, topics="health",
        ),
    )  # fmt: skip


def mcp_servers(actor: Actor, query: QueryDict) -> dict[str, Any]:
    """Returns the servers as they stand, and why one cannot be asked anew where it cannot."""
    lack = "" if Grant.CONFIG_WRITE in actor.grants else LACKS_WRITE
    found = servers()
    for n, server in enumerate(found):
        server["n"] = n
        server["no_refresh"] = lack or ("It is being asked." if server["asked"] else "")
        server["tone"], server["word"] = TONES[server["state"]], WORDS[server["state"]]
        for tool in server["tools"]:
            tool["words"] = _words(tool)
    return {"servers": found}


def _words(tool: dict[str, Any]) -> list[dict[str, Any]]:
    """What is known of a tool, in words; a hint that nobody gave is not drawn."""
    return [
        {"word": words[tool[hint]], "override": hint in tool["overridden"]}
        for hint, words in HINTS.items()
        if tool[hint] in words
    ]
