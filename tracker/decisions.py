"""A structured decision that an ask puts before somebody: closed, checked, never changed."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

_Ref = Annotated[str, StringConstraints(min_length=1, max_length=2048)]


class DecisionRole(StrEnum):
    """What the asked person's answer is: the decision itself, or a view on it."""

    APPROVER = "approver"
    CONTRIBUTOR = "contributor"


class DecisionOption(BaseModel):
    """One way to decide."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Annotated[str, StringConstraints(pattern=r"^[a-z0-9_-]{1,32}$")] = Field(
        description="Short id that an answer's choice names: a-z, 0-9, _ and -."
    )
    label: Annotated[str, StringConstraints(min_length=1, max_length=80, strip_whitespace=True)]
    detail: Annotated[str, StringConstraints(max_length=500)] = ""


class Decision(BaseModel):
    """A question with two to six options. Whoever is asked sees one button per option."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: Annotated[str, StringConstraints(min_length=1, max_length=300, strip_whitespace=True)]
    options: Annotated[tuple[DecisionOption, ...], Field(min_length=2, max_length=6)]
    role: DecisionRole = Field(
        description="approver: the answer decides. contributor: the answer is advice."
    )
    recommended: str = Field(default="", description="The id of the option you would take.")
    rationale: Annotated[str, StringConstraints(max_length=1500)] = ""
    evidence: Annotated[tuple[_Ref, ...], Field(max_length=8)] = Field(
        default=(), description="What to look at: item:ENG-4, turn:<id>, or an https address."
    )

    @field_validator("evidence")
    @classmethod
    def _evidence_is_a_reference(cls, refs: tuple[str, ...]) -> tuple[str, ...]:
        for ref in refs:
            parts = urlsplit(ref)
            if parts.scheme in {"http", "https"}:
                if parts.scheme != "https" or not parts.hostname:
                    raise ValueError(f"{ref!r} is not an https address")
            elif ":" not in ref:
                raise ValueError(f"{ref!r} is neither kind:id (item:ENG-4) nor an https address")
        return refs

    @model_validator(mode="after")
    def _options_hold_together(self) -> Decision:
        ids = [option.id for option in self.options]
        if len(set(ids)) != len(ids):
            raise ValueError("two options have one id")
        if self.recommended and self.recommended not in ids:
            raise ValueError(f"recommended {self.recommended!r} is not an option: {', '.join(ids)}")
        return self

    def label_of(self, choice: str) -> str:
        """Returns the label of an option; the id itself when it is not one."""
        return next((option.label for option in self.options if option.id == choice), choice)


def is_address(ref: str) -> bool:
    """Returns whether a piece of evidence is an address rather than a reference of ours."""
    return ref.startswith("https://")
