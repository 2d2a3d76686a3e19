"""Orders a conversation so that every wire accepts it.

Holds: each call of an assistant turn is answered right after it, once, in the order of the calls;
what people and the engine said meanwhile follows the results; nothing empty is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agents.llm.base import Answer, AssistantMessage, Message, ToolMessage, UserMessage

UNANSWERED = (
    "Outcome not observed: no result was recorded for this call. Look before you repeat it."
)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One stretch: an answer (None at the start), its results in order, then words to the model."""

    answer: Answer | None
    results: tuple[ToolMessage, ...]
    said: tuple[str, ...]


def exchanges(messages: Iterable[Message]) -> list[Exchange]:
    """Returns the conversation as exchanges.

    A call without a result gets a failed one, since an unanswered id is a vendor's 400 (it happens
    after a crash between a call and its row). A result without a call becomes words.
    """
    done: list[Exchange] = []
    answer: Answer | None = None
    results: dict[str, ToolMessage] = {}
    said: list[str] = []
    for message in messages:
        if isinstance(message, AssistantMessage):
            _close(done, answer, results, said)
            answer, results, said = message.answer, {}, []
        elif isinstance(message, UserMessage):
            said.append(message.text)
        elif answer is not None and any(call.id == message.call_id for call in answer.calls):
            results.setdefault(message.call_id, message)
        else:
            said.append(f"{message.name}: {message.text}")
    _close(done, answer, results, said)
    return done


def _close(
    done: list[Exchange],
    answer: Answer | None,
    results: dict[str, ToolMessage],
    said: Sequence[str],
) -> None:
    words = tuple(text for text in said if text.strip())
    if answer is not None and not answer.calls and not answer.text.strip():
        # Nothing to replay: the words go on from the exchange before.
        answer = None
    if answer is None and done:
        done[-1] = Exchange(done[-1].answer, done[-1].results, done[-1].said + words)
        return
    ordered = tuple(
        results.get(call.id) or ToolMessage(call.id, call.name, UNANSWERED, ok=False)
        for call in (answer.calls if answer else ())
    )
    if answer is not None or words:
        done.append(Exchange(answer, ordered, words))


def characters(system: str, messages: Iterable[Message]) -> int:
    """Returns how long a prompt is, for the estimate where a server counts nothing."""
    total = len(system)
    for message in messages:
        if isinstance(message, AssistantMessage):
            total += len(message.answer.text)
            total += sum(len(c.name) + len(c.arguments_text) for c in message.answer.calls)
        else:
            total += len(message.text)
    return total
