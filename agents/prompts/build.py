"""Builds the prompts of the phases. The system part never varies within a turn."""

from __future__ import annotations

from agents.prompts.context import ExecutorContext, JudgeContext, ReviewContext
from agents.prompts.outline import Prompt, Section, assemble
from agents.prompts.prose import prose
from agents.prompts.sections import message, seat

EXECUTOR_ORDER = (
    "identity",
    "company_context",
    "background",
    "responsibilities",
    "behavioral_guidelines",
    "unit",
    "policies",
    "team",
    "human_colleagues",
    "your_turn",
    "escalation",
    "sandbox",
    "thread_context",
    "onboarding_hint",
    "personal_memory",
    "synthesized_skills",
    "relevant_knowledge",
    "episode_recall",
    "counterparty",
    "workers",
    "tool_skills",
    "available_tools",
)
CONVERSATION = "conversation_history"
_ESCALATES_BY = "comment_on_work_item"


def executor(context: ExecutorContext) -> tuple[Prompt, Prompt]:
    """Returns the executor's system and user prompts."""
    snapshot = context.snapshot
    holder = snapshot.chart.seats[context.handle]
    names = [tool.name for tool in context.tools]
    found = dict(context.blocks)
    for section in (
        seat.identity(snapshot, holder),
        seat.company_context(snapshot),
        seat.background(holder),
        seat.responsibilities(holder),
        seat.behavioral_guidelines(holder),
        seat.unit(snapshot, holder),
        seat.policies(snapshot),
        seat.team(snapshot, holder),
        seat.human_colleagues(snapshot),
        Section("your_turn", "Your turn", prose("your_turn")),
        Section("escalation", "Escalation", prose("escalation") if _ESCALATES_BY in names else ""),
        Section("available_tools", "Tools in reach", _tools(names)),
    ):
        found[section.key] = section
    system = assemble(found[key] for key in EXECUTOR_ORDER if key in found)
    user = assemble(
        (
            _correction(context.correction),
            Section(CONVERSATION, "Earlier in this conversation", context.conversation),
            message.task(
                context.trigger,
                context.reply_kind,
                context.reply_surface,
                context.now,
                snapshot.timezone,
            ),
            _heard(context.heard),
            _titled("prior_work", "Work already done in this turn", context.prior_work),
        )
    )
    return system, user


def _heard(told: tuple[str, ...]) -> Section:
    """What people said while the turn ran, for every phase that opens later."""
    return _titled("heard", "Told during this turn", "\n\n".join(told))


def _tools(names: list[str]) -> str:
    return prose("available_tools", names=", ".join(f"`{name}`" for name in names)) if names else ""


def _correction(text: str) -> Section:
    body = f"## Correction before you go on\n\n{text}" if text.strip() else ""
    return Section("correction", "Correction", body)


def _titled(key: str, title: str, text: str) -> Section:
    return Section(key, title, f"## {title}\n\n{text}" if text.strip() else "")


def review(context: ReviewContext) -> tuple[Prompt, Prompt]:
    """Returns the reviewer's system and user prompts."""
    snapshot = context.snapshot
    holder = snapshot.chart.seats[context.handle]
    rules = prose(
        "review_phase", name=holder.name, handle=holder.handle, company=snapshot.document.name
    )
    claim = f"**{context.outcome or 'incomplete'}**: {context.summary or 'nothing was submitted'}"
    if context.evidence:
        claim += f"\n\nEvidence given: {context.evidence}"
    questions = "\n".join(f"- {question}" for question in context.open_questions)
    system = assemble(
        (
            Section("review_phase", "How to review", rules),
            _titled("earlier_rounds", "Earlier passes of this turn", context.earlier_rounds),
            _titled("outcome", "What the seat claims", claim),
            _titled("blocked_by", "Blocked", context.blocked_by),
            _titled("tool_log", "The record of its calls", context.tool_log or "No call was made."),
            _titled("open_questions", "Questions it left open", questions),
            _titled("produced", "What it wrote", context.produced),
        )
    )
    user = assemble(
        (
            message.reference(
                context.trigger, context.reply_kind, context.reply_surface, snapshot.timezone
            ),
            _heard(context.heard),
            Section("task", "Verdict", prose("review_task")),
        )
    )
    return system, user


def judge(context: JudgeContext) -> tuple[Prompt, Prompt]:
    """Returns the system and user prompts of the judge of an extension."""
    snapshot = context.snapshot
    holder = snapshot.chart.seats[context.handle]
    rules = prose(
        "judge_phase",
        name=holder.name,
        handle=holder.handle,
        company=snapshot.document.name,
        used=str(context.used),
        step=str(context.step),
    )
    system = assemble((Section("judge_phase", "How to judge", rules),))
    user = assemble(
        (
            message.reference(
                context.trigger, context.reply_kind, context.reply_surface, snapshot.timezone
            ),
            _titled("tool_log", "The newest calls", context.calls),
            _titled("last_text", "What it said last", context.last_text),
        )
    )
    return system, user
