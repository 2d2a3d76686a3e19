"""The two calls that end a phase: `submit_work` and `submit_review`.

They are not actions: nothing outside the turn changes by them. The engine answers them itself, in
the commit of the answer they came in.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agents.llm.base import ToolSchema

SUBMIT_WORK: Final = "submit_work"
SUBMIT_REVIEW: Final = "submit_review"
SUBMITTERS: Final = frozenset({SUBMIT_WORK, SUBMIT_REVIEW})


class SubmitWork(BaseModel):
    """Ends your work on this message. Call it once, after everything you did has succeeded."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    outcome: Literal["delivered", "no_action", "blocked"] = Field(
        "delivered",
        description="delivered: it is done. no_action: nothing was asked and nothing is needed. "
        "blocked: you cannot go on without somebody; name them in evidence.",
    )
    summary: str = Field(
        min_length=1,
        description="What you did and what came of it, for whoever asked. It is their answer "
        "when a colleague asked you.",
    )
    deliveries: list[str] = Field(
        default_factory=list,
        description="What you delivered, by the references your calls returned (item:ENG-4) or "
        "by the name of the tool that delivered it.",
    )
    evidence: str = Field(
        "",
        description="Why the outcome is true. Required when blocked: what is missing, from whom.",
    )
    open_questions: list[str] = Field(default_factory=list, description="What is still unsettled.")


class SubmitReview(BaseModel):
    """Ends your review with a verdict."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    decision: Literal["done", "self_iterate", "failed"] = Field(
        "done",
        description="done: the record shows the ask is met, or nobody but a person already asked "
        "can move it. self_iterate: it can be finished by another pass; say how in notes. "
        "failed: no pass and nobody's reply would help.",
    )
    notes: str = Field("", description="What the next pass must do. Required for self_iterate.")
    completed_work: str = Field("", description="What is finished and must not be done again.")
    final_artifact: str = Field(
        "", description="The final answer for whoever asked, when the summary does not say it."
    )


@cache
def schema_of(name: str) -> ToolSchema:
    """Returns the tool that ends a phase, as a model is shown it; made once a process."""
    model: type[BaseModel] = SubmitWork if name == SUBMIT_WORK else SubmitReview
    parameters = model.model_json_schema()
    description = parameters.pop("description")
    return ToolSchema(name=name, description=description, parameters=parameters)


def read_work(arguments: dict[str, Any]) -> SubmitWork | str:
    """Returns the submission, or what is wrong with it in words for the model."""
    try:
        work = SubmitWork.model_validate(arguments)
    except ValidationError as error:
        return _problems(SUBMIT_WORK, error)
    if work.outcome == "blocked" and not work.evidence:
        return (
            "submit_work was not accepted: a blocked outcome needs evidence. Say in `evidence` "
            "what is missing, who can give it and where you asked them."
        )
    return work


def read_review(arguments: dict[str, Any]) -> SubmitReview | str:
    """Returns the verdict, or what is wrong with it in words for the model."""
    try:
        review = SubmitReview.model_validate(arguments)
    except ValidationError as error:
        return _problems(SUBMIT_REVIEW, error)
    if review.decision == "self_iterate" and not review.notes:
        return (
            "submit_review was not accepted: self_iterate needs notes. Say in `notes` what the "
            "next pass must do."
        )
    return review


def _problems(name: str, error: ValidationError) -> str:
    found = "; ".join(
        f"{'.'.join(str(part) for part in item['loc']) or 'arguments'}: {item['msg']}"
        for item in error.errors(include_url=False, include_input=False)
    )
    return f"{name} was not accepted: {found}. Correct it and call {name} again."
