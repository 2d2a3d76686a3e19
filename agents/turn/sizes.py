"""What a phase's model was given, measured: at its opening and in its last request."""

from __future__ import annotations

from agents.prompts.prefetch import PREFETCHES
from agents.queries.sizes import prompt_size, said
from agents.turn.record import PhaseRecord


def of_opening(phase: PhaseRecord) -> dict[str, int]:
    """Returns the sizes of the first request, which carries no conversation yet."""
    return prompt_size(phase.system, phase.user, (), phase.tools)


def of_last_request(phase: PhaseRecord) -> dict[str, int]:
    """Returns the sizes of the newest request that was answered: it carried every round before."""
    rounds = (
        (
            item.answer.text,
            [(call.args_text, call.result) for call in item.calls],
            item.heard + item.note,
        )
        for item in phase.rounds[:-1]
    )
    return prompt_size(phase.system, phase.user, said(rounds), phase.tools)


def of_prefetches(phase: PhaseRecord) -> dict[str, int]:
    """Returns the bytes of every block that is read for an opening; 0 for one with nothing to say.

    Only the executor opens with them; the reviewer has none.
    """
    known = {part["key"]: int(part["bytes"]) for part in phase.system_outline}
    if phase.phase.value != "execute":
        return {}
    return {key: known.get(key, 0) for key, _ in PREFETCHES.items()}
