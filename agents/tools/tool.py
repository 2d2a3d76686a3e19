"""A tool as the runtime knows it, whatever its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.llm.base import ToolSchema

Answer3 = str
"""`yes`, `no` or `unknown`: a hint that nobody gave is not a no."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One verb that a seat may call in a turn.

    `action` names the registered action behind a tool of ours; a tool without one acts on
    somebody else's system. `surface` says where a success counts as a delivery.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    read_only: Answer3 = "unknown"
    destructive: Answer3 = "unknown"
    open_world: Answer3 = "unknown"
    surface: str | None = None
    action: str | None = None
    source: str = "builtin"

    def for_model(self) -> ToolSchema:
        """Returns the tool as a model is shown it."""
        return ToolSchema(self.name, self.description, self.schema)

    @property
    def proven_read(self) -> bool:
        """Whether it is known to change nothing, so that it may be repeated freely."""
        return self.read_only == "yes"
