"""With what a new company may think: keys of the environment by name, servers near, a rehearsal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from django.conf import settings

from crewlet.kernel.errors import Invalid
from crewlet.kernel.registry import Registry
from orgs.demo.creation import ANTHROPIC_MODEL, OPENAI_MODEL


class Thinking(StrEnum):
    """Who thinks for the seats; `none` holds their mail until somebody does."""

    ANTHROPIC = "anthropic"
    OPENAI = "openai"
    LOCAL = "local"
    REHEARSAL = "rehearsal"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class NearServer:
    """A model server that answered on this machine: its usual name, address and models."""

    name: str
    base_url: str
    models: tuple[str, ...]


NEAR_SERVERS: Registry[Callable[[], list[NearServer]]] = Registry("finders of model servers")

_VARIABLES: Final = {
    Thinking.ANTHROPIC: ("ANTHROPIC_API_KEY", "anthropic_api_key", ANTHROPIC_MODEL),
    Thinking.OPENAI: ("OPENAI_API_KEY", "openai_api_key", OPENAI_MODEL),
}


def key_is_set(thinking: Thinking) -> bool:
    """Returns whether the environment holds the key of a vendor; never the key."""
    return bool(getattr(settings.CREWLET, _VARIABLES[thinking][1]))


def provider_of(
    thinking: Thinking, *, model: str = "", base_url: str = ""
) -> dict[str, Any] | None:
    """Returns the provider as the document names it; raises `Invalid` for one that cannot think."""
    if thinking is Thinking.NONE:
        return None
    if thinking is Thinking.REHEARSAL:
        return {"type": "rehearsal"}
    if thinking is Thinking.LOCAL:
        if not model or not base_url:
            raise Invalid(
                "A server near you takes its address and the name of a model.",
                field="model" if base_url else "base_url",
            )
        return {"type": "openai-compatible", "model": model, "base_url": base_url}
    variable, _, usual = _VARIABLES[thinking]
    if not key_is_set(thinking):
        raise Invalid(
            f"{variable} is not set here. Set it and start again, or choose another way to think.",
            field="thinking",
        )
    return {"type": thinking.value, "model": model or usual, "api_keys": [f"${{{variable}}}"]}


def offers() -> list[dict[str, str]]:
    """Returns what can be chosen here, best first, each with why it cannot be where it cannot."""
    found = [_vendor(Thinking.ANTHROPIC, "Anthropic"), _vendor(Thinking.OPENAI, "OpenAI")]
    for find in NEAR_SERVERS.values():
        found += [_near(server) for server in find()]
    found.append(
        _offer("rehearsal", "Rehearsal", "A script plays every agent, offline. The work is real "
               "rows, the thinking is not. Nothing is spent.")
    )  # fmt: skip
    found.append(
        _offer("none", "No model yet", "Seats are placed and their mail waits until a model is "
               "named. Nothing is lost.")
    )  # fmt: skip
    return sorted(found, key=lambda offer: bool(offer["reason"]))


def _vendor(thinking: Thinking, name: str) -> dict[str, str]:
    variable, _, usual = _VARIABLES[thinking]
    if key_is_set(thinking):
        return _offer(thinking.value, name, f"{usual}, with the key in {variable}.")
    return _offer(thinking.value, name, "", f"{variable} is not set in the environment.")


def _near(server: NearServer) -> dict[str, str]:
    model = server.models[0]
    shown = _offer("local", server.name, f"{model}, at {server.base_url} on this machine.")
    return shown | {"choice": f"local {server.base_url} {model}"}


def _offer(choice: str, name: str, words: str, reason: str = "") -> dict[str, str]:
    return {"choice": choice, "name": name, "words": words, "reason": reason}


def read_choice(text: str) -> dict[str, str]:
    """Returns a form's one choice as the arguments of the action."""
    thinking, _, rest = text.partition(" ")
    base_url, _, model = rest.partition(" ")
    return {"thinking": thinking, "base_url": base_url, "model": model}
