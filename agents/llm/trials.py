"""Tests of a provider that somebody asked for: one tiny call each, outside any transaction."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.db import transaction

from agents.llm import chain
from agents.llm.base import NoProvider, Provider, ProviderError, Request, UserMessage
from agents.models.providers import ProviderTest
from crewlet.kernel import clock, db, live
from orgs import epochs

SECONDS: Final = 15.0
"""How long a test may take: the duties of the company wait for it."""
TOPIC: Final = "health"
_LOST: Final = timedelta(seconds=60)
_QUESTION: Final = Request(
    "Answer with one word.", (UserMessage("Say: ready"),), max_tokens=64, timeout=SECONDS
)


def ask(provider: Provider) -> tuple[str, int]:
    """Asks a provider for one word; returns it and the milliseconds. Raises `ProviderError`."""
    started = clock.monotonic()
    answer = provider.complete(_QUESTION)
    said = answer.text.strip()[:200] or "(no text)"
    model = answer.served_model or answer.model
    return f"{model}: {said}", round((clock.monotonic() - started) * 1000)


def run_pending(now: datetime) -> int:
    """Runs the tests that wait, and those whose process died; returns how many."""
    ran = 0
    while (test := _take(now)) is not None:
        _run(test)
        ran += 1
    return ran


def _take(now: datetime) -> ProviderTest | None:
    with transaction.atomic():
        waiting = ProviderTest.objects.filter(state="pending") | ProviderTest.objects.filter(
            state="running", asked_at__lt=now - _LOST
        )
        test = waiting.order_by("asked_at").select_for_update(skip_locked=True).first()
        if test is not None:
            test.state, test.asked_at = "running", clock.now()
            test.save(update_fields=["state", "asked_at"])
    return test


def _run(test: ProviderTest) -> None:
    entry = epochs.active().document.providers.llm.get(test.provider)
    test.ok, test.ms = False, None
    if entry is None:
        test.said = f'The company has no provider "{test.provider}" any more.'
    else:
        try:
            provider = chain.provider_of(test.provider, entry)
            db.release()
            test.said, test.ms = ask(provider)
            test.ok = True
        except (NoProvider, ProviderError) as problem:
            test.said = problem.message[:500]
    test.state, test.ended_at = "done", clock.now()
    # Only this row's own test: somebody may have asked anew meanwhile.
    with transaction.atomic():
        ProviderTest.objects.filter(id=test.id, state="running").update(
            state=test.state, ended_at=test.ended_at, ok=test.ok, said=test.said, ms=test.ms
        )
        live.changed(TOPIC)
