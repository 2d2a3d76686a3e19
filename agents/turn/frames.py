"""What a turn shows while it runs. Hints only: a lost frame costs a picture, never a turn."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any, Final

import redis

from agents.llm.base import Delta
from agents.turn.record import CallRecord, PhaseRecord, RoundRecord, TurnHead
from crewlet.kernel import clock, live

log = logging.getLogger(__name__)

DELTA_SECONDS: Final = 0.2
DELTA_TAIL: Final = 4000


def call_frame(call: CallRecord) -> dict[str, Any]:
    """Returns a call as pages show it, live or stored."""
    return {
        "ord": call.ord,
        "call_id": call.call_id,
        "name": call.name,
        "args": call.args,
        "read_only": call.read_only,
        "surface": call.surface,
        "status": call.status,
        "ok": call.ok,
        "result": call.result if call.done else "",
        "refs": list(call.refs),
        "ms": call.ms,
    }


def round_frame(item: RoundRecord) -> dict[str, Any]:
    """Returns a round as pages show it, live or stored."""
    return {
        "n": item.n,
        "reasoning": item.answer.reasoning,
        "content": item.answer.text,
        "declined": bool(item.note),
        "stop_reason": item.answer.stop.value,
        "ms": item.ms,
        "tokens_in": item.answer.usage.input,
        "tokens_out": item.answer.usage.output,
        "calls": [call_frame(call) for call in item.calls],
    }


def prompt_frame(phase: PhaseRecord) -> dict[str, Any]:
    """Returns the outline of a phase's prompts. Their text is fetched by who looks: the ring keeps
    thousands of frames, and a prompt is as large as hundreds of them.
    """
    return {
        "max_rounds": phase.max_rounds,
        "system_outline": phase.system_outline,
        "user_outline": phase.user_outline,
    }


@dataclass(slots=True)
class Frames:
    """Sends a turn's frames to `turn:<id>` and `seat:<handle>`."""

    head: TurnHead
    handle: str
    _place: dict[str, Any] = field(default_factory=dict)
    _kind: str = ""
    _text: str = ""
    _sent_at: float = 0.0

    @property
    def topics(self) -> tuple[str, str]:
        return (f"turn:{self.head.id}", f"seat:{self.handle}")

    def asking(self, phase: PhaseRecord, n: int) -> None:
        """A model call is made; what follows in `partial_round` belongs to it.

        The first of a phase is its opening, as round -1.
        """
        self._place = {"phase": phase.phase.value, "iteration": phase.iteration, "round": n}
        self._kind, self._text, self._sent_at = "", "", clock.monotonic()
        if n == 0:
            self._push("opening", round=-1, prompt=prompt_frame(phase))
        else:
            self._push("asking")

    def answered(self, item: RoundRecord) -> None:
        self._push("answered", answer=round_frame(item))

    def calling(self, call: CallRecord) -> None:
        """A call began that may take long; our own end before a frame would arrive."""
        self._push("calling", call=call_frame(call))

    def called(self, call: CallRecord) -> None:
        self._push("called", call=call_frame(call))

    def ended(self, outcome: str) -> None:
        self._push("ended", outcome=outcome)

    def delta(self, delta: Delta) -> None:
        """Shows text in the making, at most five times a second, over pub/sub only."""
        if delta.kind == "restart":
            self._text = ""
            return
        if delta.kind != self._kind:
            self._kind, self._text = delta.kind, ""
        self._text += delta.text
        now = clock.monotonic()
        if now - self._sent_at < DELTA_SECONDS:
            return
        self._sent_at = now
        body = {**self._base("partial_round"), "kind": delta.kind, "text": self._text[-DELTA_TAIL:]}
        try:
            live.partial(self.topics[0], body)
        except (redis.RedisError, OSError) as error:
            log.warning("turn_frame_lost", extra={"turn": str(self.head.id), "error": str(error)})

    def _base(self, event: str) -> dict[str, Any]:
        return {
            "event": event,
            "turn_id": str(self.head.id),
            "handle": self.handle,
            "work_item": self.head.work_item_key,
            **self._place,
        }

    def _push(self, event: str, **data: Any) -> None:
        try:
            live.push("progress", {**self._base(event), **data}, topics=self.topics)
        except (redis.RedisError, OSError) as error:
            log.warning("turn_frame_lost", extra={"turn": str(self.head.id), "error": str(error)})
