"""Finds model servers on this machine: OpenAI-compatible ones at their usual ports.

Only the loopback address is asked, each port for a fraction of a second.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

USUAL_PORTS: Final[Mapping[str, int]] = {
    "Ollama": 11434,
    "LM Studio": 1234,
    "vLLM": 8000,
    "llama.cpp": 8080,
}
_SECONDS: Final = 0.4
_READ_BYTES: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class ModelServer:
    """A server that answered: what usually stands at its port, its address, its models."""

    name: str
    base_url: str
    models: tuple[str, ...]


def find(ports: Mapping[str, int] = USUAL_PORTS) -> list[ModelServer]:
    """Returns the servers that answer with a list of models; others are passed over."""
    found = []
    for name, port in ports.items():
        base_url = f"http://127.0.0.1:{port}/v1"
        models = _models(base_url)
        if models:
            found.append(ModelServer(name, base_url, models))
    return found


def _models(base_url: str) -> tuple[str, ...]:
    try:
        with urllib.request.urlopen(f"{base_url}/models", timeout=_SECONDS) as answer:  # noqa: S310
            listed = json.loads(answer.read(_READ_BYTES))
    except (OSError, ValueError, urllib.error.URLError):
        return ()  # nobody there, or somebody who speaks of other things
    entries = listed.get("data") if isinstance(listed, dict) else None
    if not isinstance(entries, list):
        return ()
    return tuple(
        entry["id"]
        for entry in entries
        if isinstance(entry, dict) and isinstance(entry.get("id"), str)
    )


def offer(server: ModelServer) -> str:
    """Returns the line that offers a server, with the command that takes it."""
    return (
        f"{server.name} answers at {server.base_url} with {', '.join(server.models[:3])}. To think "
        f"with it: manage.py providers set default --type openai-compatible "
        f"--base-url {server.base_url} --model {server.models[0]}"
    )
