"""When the vendor's quota is spent, the whole company waits for the reset it named."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta
from typing import Any

import pytest

from agents.models.providers import ProviderKey
from agents.models.turns import Turn
from crewlet.environment import BASE_DIR
from crewlet.kernel import clock
from tests.agents.turn.stage import Stage
from tests.needs.together import run_all
from tests.support.processes import child_environment
from tests.support.script import Step

RESET = 3600
SPENT = Step(
    status=429, headers={"retry-after": str(RESET)}, error=("insufficient_quota", "quota is spent")
)


@pytest.mark.covers("PEER-10")
@pytest.mark.django_db(transaction=True)
def test_a_spent_quota_is_asked_once_and_every_start_waits_for_its_reset(stage: Stage) -> None:
    """One node finds out, two more connections and another process ask nothing."""
    stage.server.says(SPENT)
    stage.mail("chief")
    assert stage.run(stage.claim("chief"), handle="chief").kind == "parked"
    turns = {}
    for handle in ("baker", "chief"):
        Turn.objects.filter(seat_id=stage.seat(handle)).update(stage="done")
        stage.mail(handle)
        turns[handle] = stage.claim(handle)
    assert run_all(stage, turns) == {"baker": "parked", "chief": "parked"}
    assert len(stage.server.seen) == 1
    for turn in Turn.objects.filter(id__in=turns.values()):
        assert turn.park_reason == "provider"
        assert turn.wake_at is not None
        assert timedelta(seconds=RESET - 60) < turn.wake_at - clock.now()
    said = ask_from_another_process()
    assert "cools for" in said, said
    assert len(stage.server.seen) == 1

    ProviderKey.objects.update(cooled_until=clock.now() - timedelta(seconds=1))
    stage.server.says(SPENT)
    for turn_id in turns.values():
        stage.adopt(turn_id, lost=False)
    assert run_all(stage, turns) == {"baker": "parked", "chief": "parked"}
    assert len(stage.server.seen) == 2, "after the reset one call finds out for all"


ASK = """
import django
django.setup()
from agents.llm import chain
from agents.llm.base import ProviderError, Request, UserMessage
from orgs import epochs
try:
    chain.provider_for(epochs.active(), "baker", "execute").complete(
        Request(system="s", messages=(UserMessage("Hello"),)))
except ProviderError as error:
    print(error.message)
"""


def ask_from_another_process() -> str:
    """Asks the same provider from a process that has never seen it fail."""
    environment: dict[str, Any] = {
        **child_environment(), "DJANGO_SETTINGS_MODULE": "crewlet.settings",
    }  # fmt: skip
    done = subprocess.run(  # our own interpreter and our own words
        [sys.executable, "-c", ASK],
        cwd=BASE_DIR, env={**os.environ, **environment}, capture_output=True, text=True,
        timeout=60, check=True,
    )  # fmt: skip
    return done.stdout
