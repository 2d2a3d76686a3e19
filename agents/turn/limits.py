"""The ceilings of a turn, as the company's document sets them. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agents.turn.states import Limits, PhaseName
from orgs.document.engine import TurnEngine

if TYPE_CHECKING:
    from agents.turn.record import TurnRecord
    from orgs.document.company import CompanyDocument


def limits_of(document: CompanyDocument) -> Limits:
    """Returns the ceilings under `turn_engine`, each with its default where nothing is said."""
    engine = document.turn_engine or TurnEngine()
    extends = engine.extension_enabled
    return Limits(
        iterations=engine.max_iterations,
        executor_rounds=engine.max_tool_rounds,
        ceiling=engine.execute_max_tool_rounds_ceiling if extends else engine.max_tool_rounds,
        step=engine.extension_round_step,
        depth=engine.delegation_depth_limit,
    )


def limits_for(record: TurnRecord, document: CompanyDocument) -> Limits:
    """Returns the ceilings of a turn: those of its first pass, whatever the document says by now.

    A turn that was parked goes on under a newer document; its rows must fold as they were written.
    """
    limits = limits_of(document)
    first = record.phase(PhaseName.EXECUTE, 1)
    if first is None:
        return limits
    return replace(limits, executor_rounds=first.max_rounds, ceiling=first.round_ceiling)
