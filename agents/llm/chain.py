"""Which model a seat is thought with in a phase, and the client that asks it.

TURN-50: a phase's own chain, else the seat's, else the provider "default", else the first one of
the company. Each entry is asked with all of its keys (see `keyed`).
"""

from __future__ import annotations

import importlib
import logging
import os
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from agents.llm import cooling
from agents.llm.base import Answer, NoProvider, Provider
from agents.llm.failover import Failover
from agents.llm.settings import LONGEST_CALL_SECONDS, ModelSettings

if TYPE_CHECKING:
    from orgs.epochs import Snapshot

log = logging.getLogger(__name__)

DEFAULT_KEY = "default"
_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)\}", re.ASCII)
_EXECUTOR_PHASES = ("execute", "onboarding", "onboard", "default")
_PHASE_CHAINS = {"worker": "subagent", "delegate": "subagent", "reflect": "auxiliary"}
_NEEDS_KEY = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}
# Modules are imported at first use: an SDK takes a second of start-up that web never needs.
_MODULES = {
    "anthropic": "agents.llm.anthropic",
    "openai": "agents.llm.openai",
    "openai-compatible": "agents.llm.openai",
}


def chain_of(snapshot: Snapshot, handle: str, phase: str) -> tuple[str, ...]:
    """Returns the provider keys of a seat's phase, in order; raises `NoProvider` in words."""
    providers = _providers(snapshot)
    if not providers:
        raise NoProvider(
            "The company has no model provider, so no seat can work. Add one under "
            "providers.llm with its type, model and api_keys."
        )
    seat = snapshot.chart.seats.get(handle)
    if seat is None:
        raise NoProvider(f'The company has no seat "{handle}", so there is no model to ask.')
    chain = _role_chain(seat.role, phase) or (_company_default(providers),)
    unknown = [key for key in chain if key not in providers]
    if unknown:
        known = ", ".join(sorted(providers))
        raise NoProvider(
            f'Seat "{handle}" asks for provider "{unknown[0]}" in phase {phase}, which the '
            f"company does not have. It has: {known}."
        )
    return chain


def provider_for(snapshot: Snapshot, handle: str, phase: str) -> Provider:
    """Returns the provider that a seat's phase is thought with; raises `NoProvider` in words."""
    first, *others = chain_of(snapshot, handle, phase)
    providers = _providers(snapshot)
    # One read for the whole chain, before the caller gives its connection back.
    keyed = [key for key in (first, *others) if not _rehearses(providers[key])]
    known = cooling.read(keyed) if keyed else {}
    provider = provider_of(first, providers[first], known)
    if not others:
        return provider
    members = [(key, partial(provider_of, key, providers[key], known)) for key in others]
    return Failover(provider, members)


def provider_of(key: str, entry: Any, known: cooling.Known | None = None) -> Provider:
    """Returns the provider of one entry of `providers.llm`, with every key that is set.

    Clients are kept for the life of the process, by type, address and key. `known` is what was
    read of cooling keys; without it the first call reads.
    """
    vendor = str(getattr(entry.type, "value", entry.type))
    if _rehearses(entry):
        return _rehearsal(key, entry)
    if vendor not in _MODULES:
        types = ", ".join([*_MODULES, "rehearsal"])
        raise NoProvider(f'Provider "{key}" has the unknown type "{vendor}". Known are: {types}.')
    module = importlib.import_module(_MODULES[vendor])
    from agents.llm.keyed import Keyed, Member

    settings = model_settings(key, entry, default_url=module.DEFAULT_URL)
    members = []
    for api_key in keys_of(key, entry):
        one = replace(settings, api_key=api_key)
        wire = _CLIENTS.get(
            (_MODULES[vendor], one.base_url, api_key),
            partial(module.connect, one.base_url, api_key),
        )
        seconds = one.timeout_seconds or LONGEST_CALL_SECONDS
        members.append(Member(cooling.digest(api_key), module.provider(one, wire), seconds))
    return Keyed(members, cooling.Rules.of(entry), known)


def model_settings(key: str, entry: Any, *, default_url: str = "") -> ModelSettings:
    """Returns an entry with its `${NAME}` references resolved; raises `NoProvider` in words."""
    vendor = str(getattr(entry.type, "value", entry.type))
    if not entry.model:
        raise NoProvider(f'Provider "{key}" names no model. Add `model` to it.')
    base_url = _resolved(key, "base_url", entry.base_url or "")
    if vendor == "openai-compatible" and not base_url:
        raise NoProvider(
            f'Provider "{key}" is openai-compatible and names no base_url. Add the address of '
            "its server, with the version (http://host:port/v1)."
        )
    effort = getattr(entry, "reasoning_effort", None)
    return ModelSettings(
        key=key,
        vendor=vendor,
        model=_resolved(key, "model", entry.model),
        base_url=base_url or default_url,
        api_key=keys_of(key, entry)[0],
        timeout_seconds=float(entry.timeout_seconds or 0),
        max_tokens=int(entry.max_tokens or 0),
        reasoning_effort=str(getattr(effort, "value", effort) or ""),
        reasoning_budget_tokens=int(getattr(entry, "reasoning_budget_tokens", 0) or 0),
    )


CONTEXT_SHARE = 0.8
"""A conversation that takes more of its model's context than this has nearly filled it."""


def nearly_full(snapshot: Snapshot, answer: Answer) -> bool:
    """Returns whether an answer's conversation has nearly filled the context of its model.

    Never where the size is unknown: an entry says its own with `context_tokens`.
    """
    entry = _providers(snapshot).get(answer.provider_key)
    size = int(getattr(entry, "context_tokens", 0) or 0)
    return bool(size) and answer.usage.total >= CONTEXT_SHARE * size


def _role_chain(role: Any, phase: str) -> tuple[str, ...]:
    named = _PHASE_CHAINS.get(phase, phase)
    chain: tuple[str, ...] = tuple(role.chain("default" if named in _EXECUTOR_PHASES else named))
    return chain


def _company_default(providers: Mapping[str, Any]) -> str:
    return DEFAULT_KEY if DEFAULT_KEY in providers else next(iter(providers))


def _providers(snapshot: Snapshot) -> Mapping[str, Any]:
    found: Mapping[str, Any] = snapshot.document.providers.llm or {}
    return found


def keys_of(key: str, entry: Any) -> tuple[str, ...]:
    """Returns an entry's keys in the order of the document, each once; one empty key if it needs
    none. A key whose variable is not set is passed over, unless it is the only one."""
    vendor = str(getattr(entry.type, "value", entry.type))
    texts = tuple(entry.api_keys or ())
    usable = [text for text in texts if not missing_variables(text)]
    if texts:
        return tuple(dict.fromkeys(_resolved(key, "api_keys", t) for t in usable or texts[:1]))
    if vendor in _NEEDS_KEY:
        raise NoProvider(
            f'Provider "{key}" has no API key. Add `api_keys: ["${{{_NEEDS_KEY[vendor]}}}"]` to it '
            "and set that variable where Crewlet runs."
        )
    return ("",)


def missing_variables(text: str) -> list[str]:
    """Returns the variables that a text of the document names and this process does not have."""
    return [name for name in _VARIABLE.findall(text) if not os.environ.get(name)]


def resolved(text: str) -> str:
    """Returns a text with the variables that are set put in; one that is not stays as written."""
    return _VARIABLE.sub(lambda match: os.environ.get(match[1]) or match[0], text)


def _resolved(key: str, field: str, text: str) -> str:
    missing = missing_variables(text)
    if missing:
        raise NoProvider(
            f'Provider "{key}" reads {field} from the variable {missing[0]}, which is not set '
            "where Crewlet runs. Set it and restart, or change the provider."
        )
    return _VARIABLE.sub(lambda match: os.environ[match[1]], text)


def _rehearses(entry: Any) -> bool:
    return str(getattr(entry.type, "value", entry.type)) == "rehearsal"


def _rehearsal(key: str, entry: Any) -> Provider:
    module = importlib.import_module("agents.llm.rehearsal")
    provider: Provider = module.RehearsalProvider(key=key, model=entry.model or "rehearsal")
    return provider


def warm(snapshot: Snapshot) -> None:
    """Imports the SDKs of the company's providers and opens their clients.

    Worth a second of a worker's start: otherwise the first seat that is woken waits for it. A
    provider that cannot be asked is passed over; the turn that needs it says why.
    """
    for key, entry in _providers(snapshot).items():
        try:
            provider_of(key, entry)
        except NoProvider as missing:
            log.info("provider_not_warmed", extra={"provider": key, "why": missing.message})


def close_clients() -> None:
    """Closes the connections of this process; the next call opens new ones."""
    _CLIENTS.close()


class _Clients:
    """Open clients of this process. Two threads that ask at once get the same one."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str, str], Any] = {}
        self._lock = threading.Lock()

    def get(self, slot: tuple[str, str, str], connect: Callable[[], Any]) -> Any:
        with self._lock:
            if slot not in self._open:
                self._open[slot] = connect()
            return self._open[slot]

    def close(self) -> None:
        """Closes every client."""
        with self._lock:
            clients, self._open = list(self._open.values()), {}
        for client in clients:
            client.close()


_CLIENTS = _Clients()
