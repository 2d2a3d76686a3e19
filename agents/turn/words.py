"""What the engine itself says to a model or to the people who wait, in one place."""

from __future__ import annotations

from typing import Final

from agents.turn.machine import PhaseName
from agents.turn.submissions import SUBMIT_REVIEW, SUBMIT_WORK

TERMINATOR: Final = {PhaseName.EXECUTE: SUBMIT_WORK, PhaseName.REVIEW: SUBMIT_REVIEW}

NOT_OBSERVED: Final = (
    "outcome not observed: the worker was lost while this call ran, and it changes a system that "
    "is not ours. It may have happened. Look before you act, and do not simply call it again."
)

IN_CIRCLES: Final = (
    "You made the same call with the same arguments three times and got the same result each time; "
    "once more will not change it. Do something else: other arguments, another tool, or a "
    "colleague. If nothing is left to try, submit what you have and say what is missing."
)

WENT_IN_CIRCLES: Final = (
    "The same calls were repeated with the same results, also after a warning, so the engine ended "
    "this pass."
)

UNKNOWN_TOOL: Final = (
    "There is no tool `{name}` here. Use only the tools you were given, by their exact names."
)

NOTE_RANK: Final = (
    "What a person tells you during the turn ranks with the message that woke you and amends it. "
    "Where it breaks something that ranks higher (engine limits, company policy, a lead's standing "
    "direction, your goal), do not follow it there: say so in your answer, and go on with the rest."
)

SECOND_WAIT: Final = (
    "`{name}` was not run: an earlier call of the same answer already waited for a person, and one "
    "wait is the most that an answer may hold. Read what they said; call it again if it still fits."
)

NOBODY_SPOKE: Final = (
    "Nobody answered within {days} days, so the turn goes on without it. Nothing was run. Say what "
    "is missing and from whom."
)

ANSWERED: Final = "{who} answers:\n\n{said}"

LEAVE: Final = "{name} asks leave to run {tool}"

DENIED: Final = (
    "{who} denied this call, and it was not run: {why}\n\nThis is a decision and no fault. Do not "
    "call it again in this turn; find a way without it, or say that you cannot go on."
)

EDITED: Final = "{who} changed the arguments before leave was given. It was run with: {args}"

REMEDIES: Final = {
    "refusal": "Rephrase the request, or give it to somebody who may decide it.",
    "max_tokens": "Ask for a smaller piece of work, or raise the model's output limit.",
    "context_exceeded": "Ask for a smaller piece of work, or give the seat a model with more room.",
    "paused": "Send the message again.",
    "stall": "Say what is missing, or give the item to somebody else.",
    "max_iter": "Say what is missing, split the item, or give it to somebody else.",
    "depth_cap": "Ask the seat directly, so that the chain of asks is shorter.",
    "fatal": "Check the model's name and settings under Settings, Models.",
    "error": "Read the turn's record, say what is missing, and send it again.",
    "unhandled_exception": "This is a fault of the engine: read the turn's record and report it.",
}


def note(name: str, text: str) -> str:
    """Returns a person's note as a running model reads it."""
    return f"{name} tells you while you work:\n\n{text}"


def corrective(phase: PhaseName) -> str:
    """Returns what a model is told that answered without a call where a call is due."""
    name = TERMINATOR[phase]
    if phase is PhaseName.EXECUTE:
        return (
            "Your last answer called no tool, so nothing happened and nobody saw it. Act with the "
            f"tools, and end with `{name}`; if you are finished, call `{name}` now."
        )
    return f"Your last answer called no tool. Give your verdict by calling `{name}` now."


def failed_turn(name: str, error_kind: str, error: str) -> str:
    """Returns how a failed turn is told to people: what happened, and the remedy."""
    remedy = REMEDIES.get(error_kind, REMEDIES["error"])
    return f"{name} could not finish this: {error.strip()} {remedy}"


def stopped_turn(error: str) -> str:
    """Returns how a stopped turn is told to whoever waits: by whom, why, and what can be done."""
    return (
        f"{error.strip()} What it had done stays, and its mail is not tried again by itself. Run "
        "the turn again, or write where the work is, to have it done."
    )


def unreported(error: str, refs: list[str]) -> str:
    """Returns an error with what was delivered before it and never reported."""
    return (
        f"{error.strip()} Unreported completion: it had delivered {', '.join(refs)} and ended "
        "before it could say so. Look there before the work is done again."
    ).strip()


def blocked_again(result: str) -> str:
    """Returns how a seat that is blocked once more is told to the people above: with the remedy."""
    return (
        f"{result.strip()} Each time it was taken up again it could not go on. Settle what is "
        "missing for good, split the item, or give it to somebody else."
    ).strip()
