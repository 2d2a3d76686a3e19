"""Examines every key of every model and says what a person can do about each that fails.

Each key is asked once for one word, cooling or not, so that a repaired one is seen at once. What
cools stays cooling: only a call of a seat ends that.
"""

from __future__ import annotations

from typing import Any

from agents.llm import chain, trials
from agents.llm.advice import UNSET, advice
from agents.llm.base import NoProvider, Provider, ProviderError
from agents.llm.keyed import Keyed
from agents.llm.standing import providers
from crewlet.kernel import db
from orgs import epochs


def examined() -> list[dict[str, Any]]:
    """Returns a finding for every key, in the order of the document.

    `ok`, `kind` (empty when it answered), `what` was said, `do` about it, `ms`; the key by its
    digest and its variable, both empty where none is needed.
    """
    findings = []
    entries = epochs.active().document.providers.llm
    for entry in providers():
        found = _examined(entry, entries[entry["key"]])
        findings += [{"provider": entry["key"], "model": entry["model"], **one} for one in found]
    return findings


def _examined(entry: dict[str, Any], stated: Any) -> list[dict[str, Any]]:
    try:
        provider = chain.provider_of(entry["key"], stated)
    except NoProvider as missing:
        failed = _failed(UNSET, missing.message, advice(UNSET, entry))
        return [{"digest": "", "variable": "", **failed}]
    members: list[tuple[str, Provider]] = [("", provider)]
    if isinstance(provider, Keyed):
        members = [(member.digest, member.provider) for member in provider.members]
    variables = {one["digest"]: one["variable"] for one in entry["keys"]}
    return [_asked(one, entry, digest, variables) for digest, one in members]


def _asked(
    provider: Provider, entry: dict[str, Any], digest: str, variables: dict[str, str]
) -> dict[str, Any]:
    variable = variables.get(digest, "")
    key = {"digest": digest if digest in variables else "", "variable": variable}
    db.release()
    try:
        said, ms = trials.ask(provider)
    except ProviderError as error:
        kind = error.kind.value
        return key | _failed(kind, error.message, advice(kind, entry, variable))
    return key | {"ok": True, "kind": "", "what": said, "do": "", "ms": ms}


def _failed(kind: str, what: str, do: str) -> dict[str, Any]:
    return {"ok": False, "kind": kind, "what": what, "do": do, "ms": None}
