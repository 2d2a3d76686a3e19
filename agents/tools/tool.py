"""A tool as the runtime knows it, whatever its source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agents.llm.base import ToolSchema

if TYPE_CHECKING:
    from agents.tools.run_call import CallResult

Answer3 = str
"""`yes`, `no` or `unknown`: a hint that nobody gave is not a no."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One verb that a seat may call in a turn.

    `action` names the registered action behind a tool of ours. A tool without one has `run`,
    which takes the arguments and acts on somebody else's system; it says what went wrong in its
    result and raises nothing. `surface` says where a success counts as a delivery. `source` is
    `builtin` or `mcp:<server>`; what a server offers is shown to a model once it was activated.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    read_only: Answer3 = "unknown"
    destructive: Answer3 = "unknown"
    idempotent: Answer3 = "unknown"
    open_world: Answer3 = "unknown"
    title: str = ""
    surface: str | None = None
    action: str | None = None
    source: str = "builtin"
    own: bool = False
    """Whether it is the seat's alone; then it goes before another of its name."""
    run: Callable[[dict[str, Any]], CallResult] | None = None

    def for_model(self) -> ToolSchema:
        """Returns the tool as a model is shown it."""
        return ToolSchema(self.name, self.description, self.schema)

    @property
    def proven_read(self) -> bool:
        """Whether it is known to change nothing, so that it may be repeated freely."""
        return self.read_only == "yes"

    @property
    def server(self) -> str:
        """The MCP server it comes from; empty for a tool of ours."""
        return self.source.removeprefix("mcp:") if self.source.startswith("mcp:") else ""

    @property
    def delivers(self) -> bool:
        """Whether a success of it can count as a delivery.

        Ours names a surface; somebody else's delivers unless it is proved to read.
        """
        return bool(self.surface) or (self.action is None and not self.proven_read)
