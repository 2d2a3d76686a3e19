"""The floor: the same calls and the same commits with no engine around them.

One turn of the floor, on the very tables that a real turn writes, through the object mapper:

1. claim the letter, open the turn;
2. ask; store the answer with its call, charge it;
3. write the comment together with the call's result;
4. ask; store the answer that submits, charge it;
5. ask the reviewer; store the verdict, charge it, close the turn, remove the letter.

Five commits, a lease in Valkey, eight published events. There is no fence, no audit, no operation
row, no event row, no screening, no resume, no check: whoever wants those pays for them above this.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import openai
from django.db import connection, transaction
from openai.types.chat import ChatCompletion

from agents.models.budgets import LlmCall
from agents.models.mail import Completion, Delivery
from agents.models.turns import IterationRecord, Phase, Round, ToolCall, Turn
from bench.place import BenchProblem
from crewlet.kernel import clock
from crewlet.kernel.ids import new_id
from crewlet.kernel.redis import client, key
from tracker.models.comments import Comment
from tracker.models.items import WorkItem

Send = Callable[[openai.OpenAI, dict[str, Any]], ChatCompletion]
EVENTS: Final = 8
MODEL: Final = "scripted"


def by_create(sdk: openai.OpenAI, body: dict[str, Any]) -> ChatCompletion:
    """Asks as the SDK's guide does."""
    answer: ChatCompletion = sdk.chat.completions.create(**body)
    return answer


def by_post(sdk: openai.OpenAI, body: dict[str, Any]) -> ChatCompletion:
    """Asks through the SDK's own `post`, which does not type the history again."""
    return sdk.post("/chat/completions", body=body, cast_to=ChatCompletion)


@dataclass(frozen=True)
class Prompts:
    """The prompts of a real turn: what the floor asks with, so that both send the same bytes."""

    executor: tuple[str, str]
    tools: list[dict[str, Any]]
    reviewer: tuple[str, str]
    review_tools: list[dict[str, Any]]

    @classmethod
    def of_last_turn(cls) -> Prompts:
        """Reads them from the journal of the latest turn; raises BenchProblem without one."""
        phases = {
            phase.phase: phase
            for phase in Phase.objects.filter(turn__outcome="completed").order_by("started_at")
        }
        if set(phases) != {"execute", "review"}:
            raise BenchProblem(f"The latest turn has the phases {sorted(phases)}, not a review.")
        work, review = phases["execute"], phases["review"]
        return cls(
            (work.system, work.user), [_tool(tool) for tool in work.tools],
            (review.system, review.user), [_tool(tool) for tool in review.tools],
        )  # fmt: skip


def _tool(shown: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": dict(shown)}


def _argument(call: ToolCall, name: str) -> str:
    return str((call.args or {}).get(name, ""))


def post_letter(seat_id: UUID) -> None:
    """Puts a letter into a seat's mailbox."""
    Delivery.objects.create(
        seat_id=seat_id, event_id=new_id(), kind="work_change", source="bench",
        batch_key="bench", conversation="bench", event_ts=clock.now(),
        payload={"summary": "Count what came in", "text": "Count what came in"},
        reply_kind="tool", created_at=clock.now(),
    )  # fmt: skip


@dataclass
class Floor:
    """Works floor turns; one client, as a process would have."""

    sdk: openai.OpenAI
    send: Send
    prompts: Prompts
    item: WorkItem

    @classmethod
    def at(cls, url: str, send: Send, prompts: Prompts) -> Floor:
        """Returns a floor that asks the model at `url` and comments on the oldest item."""
        item = WorkItem.objects.order_by("created_at").first()
        if item is None:
            raise BenchProblem("There is no item to comment on.")
        return cls(openai.OpenAI(api_key="none", base_url=url, max_retries=0), send, prompts, item)

    def work(self, seat_id: UUID) -> None:
        """Works one letter of a seat on this thread."""
        lease = key("bench-lease", seat_id)
        client().set(lease, "1", nx=True, px=30_000)
        try:
            _FloorTurn(self, seat_id).run()
        finally:
            client().delete(lease)
            connection.close()


class _FloorTurn:
    def __init__(self, floor: Floor, seat_id: UUID) -> None:
        self.floor = floor
        self.seat_id = seat_id
        self.published = 0

    def run(self) -> None:
        prompts = self.floor.prompts
        letter = self._open()
        self._tell()
        system, user = prompts.executor
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        answer = self._ask(messages, prompts.tools)
        phase, call = self._first(answer)
        self._tell(2)
        result = self._comment(call, answer)
        self._tell()
        said = answer.choices[0].message
        messages.append(said.model_dump(exclude_none=True))
        messages.append({"role": "tool", "tool_call_id": call.call_id, "content": result})
        self._submit(phase, self._ask(messages, prompts.tools))
        self._tell(2)
        system, user = prompts.reviewer
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        self._end(letter, self._ask(messages, prompts.review_tools))
        self._tell(EVENTS - self.published)

    def _ask(
        self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]
    ) -> ChatCompletion:
        connection.close()
        body = {"model": MODEL, "messages": list(messages), "tools": list(tools)}
        return self.floor.send(self.floor.sdk, body)

    def _tell(self, events: int = 1) -> None:
        for _ in range(events):
            self.published += 1
            body = {"kind": "event", "turn": str(self.turn.id), "n": self.published}
            client().publish(key("bench"), json.dumps(body))

    def _open(self) -> Delivery:
        with transaction.atomic():
            letters = Delivery.objects.select_for_update(skip_locked=True)
            letter = letters.filter(seat_id=self.seat_id, turn=None).order_by("event_ts").first()
            if letter is None:
                raise BenchProblem("The floor found no letter.")
            self.turn = Turn.objects.create(
                seat_id=self.seat_id, work_key=str(letter.event_id), reply_kind="tool",
                trigger=letter.payload, constituents=[letter.payload], batch_key="bench",
                conversation="bench", epoch=1, lease_epoch=1, started_at=clock.now(),
            )  # fmt: skip
            letter.turn = self.turn
            letter.save(update_fields=["turn"])
        return letter

    def _phase(self, name: str, prompt: tuple[str, str], tools: list[dict[str, Any]]) -> Phase:
        return Phase.objects.create(
            turn=self.turn, phase=name, iteration=1, system=prompt[0], user=prompt[1],
            tools=tools, max_rounds=30, started_at=clock.now(),
        )  # fmt: skip

    def _round(self, phase: Phase, n: int, answer: ChatCompletion, *, status: str) -> ToolCall:
        now, usage, choice = clock.now(), answer.usage, answer.choices[0]
        tokens_in = usage.prompt_tokens if usage else 0
        tokens_out = usage.completion_tokens if usage else 0
        made = Round.objects.create(
            phase=phase, n=n, started_at=now, ms=0, stop_reason=choice.finish_reason,
            model=MODEL, tokens_in=tokens_in, tokens_out=tokens_out,
            content=choice.message.content or "", answer=answer.model_dump_json(),
        )  # fmt: skip
        LlmCall.objects.create(
            ts=now, day=now.date(), seat_id=self.seat_id, turn_id=self.turn.id,
            phase=phase.phase, model=MODEL, provider_entry="bench", tokens_in=tokens_in,
            tokens_out=tokens_out,
        )  # fmt: skip
        called = next(iter(choice.message.tool_calls or ()), None)
        if called is None or called.type != "function":
            raise BenchProblem("The model called no tool.")
        return ToolCall.objects.create(
            round=made, ord=0, call_id=called.id, name=called.function.name,
            args=json.loads(called.function.arguments), args_text=called.function.arguments,
            status=status, started_at=now,
        )  # fmt: skip

    def _first(self, answer: ChatCompletion) -> tuple[Phase, ToolCall]:
        prompts = self.floor.prompts
        with transaction.atomic():
            phase = self._phase("execute", prompts.executor, prompts.tools)
            call = self._round(phase, 0, answer, status="running")
            self.turn.stage, self.turn.calls = "phase", 1
            self.turn.save(update_fields=["stage", "calls"])
        return phase, call

    def _comment(self, call: ToolCall, answer: ChatCompletion) -> str:
        body = _argument(call, "body") or str(answer.choices[0].message.content)
        with transaction.atomic():
            Comment.objects.create(
                item=self.floor.item, author="bench", author_name="Bench", author_kind="agent",
                author_seat_id=self.seat_id, turn_id=self.turn.id, body=body,
                created_at=clock.now(),
            )  # fmt: skip
            call.status, call.ok, call.result = "done", True, "Commented."
            call.save(update_fields=["status", "ok", "result"])
        return call.result

    def _submit(self, phase: Phase, answer: ChatCompletion) -> None:
        with transaction.atomic():
            call = self._round(phase, 1, answer, status="done")
            phase.status, phase.submission, phase.ended_at = "done", call.args, clock.now()
            phase.save(update_fields=["status", "submission", "ended_at"])
            self.turn.calls = 2
            self.turn.save(update_fields=["calls"])

    def _end(self, letter: Delivery, answer: ChatCompletion) -> None:
        prompts = self.floor.prompts
        with transaction.atomic():
            phase = self._phase("review", prompts.reviewer, prompts.review_tools)
            verdict = self._round(phase, 0, answer, status="done")
            IterationRecord.objects.create(
                turn=self.turn, n=1, outcome="delivered", decision="done", at=clock.now(),
                completed_work=_argument(verdict, "completed_work"),
            )  # fmt: skip
            self.turn.stage, self.turn.outcome, self.turn.calls = "done", "completed", 3
            self.turn.ended_at = clock.now()
            self.turn.save(update_fields=["stage", "outcome", "calls", "ended_at"])
            Completion.objects.create(
                seat_id=self.seat_id, event_id=letter.event_id, work_key=self.turn.work_key,
                turn_id=self.turn.id, outcome="completed", at=clock.now(),
            )  # fmt: skip
            letter.delete()
