"""The base of every document model, and the kinds of text that more than one of them holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from orgs.document.names import ADDRESS_MAX, HANDLE_PATTERN, PROJECT_KEY_PATTERN, UNIT_KEY_PATTERN
from orgs.document.problems import ProblemKind

TEXT_MAX = 20_000
NAME_MAX = 200


class Section(BaseModel):
    """A closed object of the document: an unknown key is refused, a value is never converted."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True
    )


def fault(kind: ProblemKind, message: str) -> PydanticCustomError:
    """Makes an error whose words reach the reader as they stand."""
    return PydanticCustomError(kind.value, message.replace("{", "{{").replace("}", "}}"))


def check(rule: Callable[[Any], None]) -> AfterValidator:
    """Turns a rule that raises into a validator that keeps the value."""

    def apply(value: Any) -> Any:
        rule(value)
        return value

    return AfterValidator(apply)


def secret() -> dict[str, Any]:
    """Marks a field whose value opens something; the schema carries the mark to every reader."""
    return {"x-crewlet-secret": True}


def _not_blank(value: str) -> None:
    if not value.strip():
        raise fault(ProblemKind.INVALID, "This is blank: give it text or remove the key.")


Text = Annotated[str, Field(max_length=TEXT_MAX)]
Line = Annotated[str, Field(min_length=1, max_length=TEXT_MAX), check(_not_blank)]
Name = Annotated[str, Field(min_length=1, max_length=NAME_MAX), check(_not_blank)]
Handle = Annotated[str, Field(pattern=HANDLE_PATTERN, max_length=ADDRESS_MAX)]
UnitKey = Annotated[str, Field(pattern=UNIT_KEY_PATTERN, max_length=ADDRESS_MAX)]
ProjectKey = Annotated[str, Field(pattern=PROJECT_KEY_PATTERN)]
Tokens = Annotated[int, Field(gt=0, le=10**15)]


class TokenBudget(Section):
    """Ceilings in tokens over the company's day, week and month; an absent one is no ceiling."""

    day: Tokens | None = None
    """From midnight to midnight."""
    week: Tokens | None = None
    """From Monday to Sunday."""
    month: Tokens | None = None
    """From the first to the last day."""
