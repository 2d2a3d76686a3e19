"""Tapes are played on the same stage as turns."""

from __future__ import annotations

from tests.agents.turn.conftest import bare_stage, model_server, stage

__all__ = ["bare_stage", "model_server", "stage"]
