"""The stage on which turns are played: real Postgres, a model behind HTTP, real SDK."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from orgs import epochs
from tests.agents.turn.stage import Stage, tools
from tests.support.model_server import ModelServer
from tests.support.script import model_server

__all__ = ["model_server"]


@pytest.fixture
def bare_stage(db: None, model_server: ModelServer) -> Iterator[Stage]:
    """A stage without a company."""
    epochs.forget()
    with tools():
        yield Stage(model_server)
    epochs.forget()


@pytest.fixture
def stage(bare_stage: Stage) -> Stage:
    """A stage with the bakery."""
    bare_stage.company()
    return bare_stage
