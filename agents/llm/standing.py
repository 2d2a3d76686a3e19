"""How the company's models stand: keys set, keys that cool, calls under way, the last test."""

from __future__ import annotations

from typing import Any

from agents.llm import chain, cooling, in_flight
from agents.llm.advice import UNSET, advice
from agents.llm.base import NoProvider
from agents.models.providers import ProviderTest
from crewlet.kernel import clock
from orgs import epochs
from orgs.document.variables import is_reference


def providers() -> list[dict[str, Any]]:
    """Returns every entry of `providers.llm` in order, its keys by digest, never a key itself.

    `advice`, of an entry and of each of its keys, says what to do where something is wrong.

    `state` is serving, cooling (every key cools) or unset (it cannot be asked from this process).
    """
    entries = epochs.active().document.providers.llm
    known = cooling.read(entries)
    tests = {test.provider: test for test in ProviderTest.objects.filter(provider__in=entries)}
    return [_entry(key, entry, known, tests.get(key)) for key, entry in entries.items()]


def _entry(key: str, entry: Any, known: cooling.Known, test: ProviderTest | None) -> dict[str, Any]:
    keys, missing, problem = _keys(key, entry, known)
    cooling_keys = [one for one in keys if one["cooling_seconds"]]
    state = "serving"
    if problem:
        state = "unset"
    elif keys and len(cooling_keys) == len(keys):
        state = "cooling"
    row = {
        "key": key,
        "type": entry.type.value,
        "model": entry.model,
        "base_url": entry.base_url or "",
        "state": state,
        "problem": problem,
        "keys": keys,
        "keys_missing": missing,
        "test": _test(test),
    }
    row["advice"] = advice(UNSET, row) if problem else ""
    for one in keys:
        one["advice"] = advice(one["reason"], row, one["variable"])
    return row


def _keys(
    key: str, entry: Any, known: cooling.Known
) -> tuple[list[dict[str, Any]], list[str], str]:
    missing = sorted({n for text in entry.api_keys for n in chain.missing_variables(text)})
    if entry.type.value == "rehearsal":
        return [], missing, ""
    try:
        secrets = chain.keys_of(key, entry)
    except NoProvider as problem:
        return [], missing, problem.message
    names = {chain.resolved(text): text for text in entry.api_keys if is_reference(text)}
    digests = [cooling.digest(secret) for secret in secrets]
    busy = in_flight.counts(key, digests)
    now = clock.now()
    rows = []
    for secret, digest, count in zip(secrets, digests, busy, strict=True):
        cooled = known.get((key, digest))
        wait = max(0, round((cooled.until - now).total_seconds())) if cooled else 0
        rows.append(
            {
                "digest": digest if secret else "",
                "variable": names.get(secret, "").strip("${}"),
                "in_flight": count,
                "cooling_seconds": wait,
                "cooled_until": cooled.until if cooled and wait else None,
                "reason": cooled.reason if cooled else "",
                "last_error": cooled.last_error if cooled else "",
            }
        )
    return rows, missing, ""


def _test(test: ProviderTest | None) -> dict[str, Any] | None:
    if test is None:
        return None
    return {
        "state": test.state,
        "asked_by": test.asked_by,
        "asked_at": test.asked_at,
        "ended_at": test.ended_at,
        "ok": test.ok,
        "said": test.said,
        "ms": test.ms,
    }
