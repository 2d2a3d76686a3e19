"""Parts that seats, units and the company share: schedules, tool servers, workers, places."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from orgs.document.fields import Line, Name, Section, Text, check, fault, secret
from orgs.document.problems import ProblemKind
from orgs.document.zones import known_zone

Secret = Annotated[str, Field(min_length=1, max_length=65_536, json_schema_extra=secret())]
"""A value that opens something, best written as one `${NAME}`."""
Environment = dict[Annotated[str, Field(min_length=1, max_length=200)], Secret]
Seconds = Annotated[int, Field(ge=1, le=86_400)]
Zone = Annotated[str, check(known_zone)]

_CRON_RANGES = (("minute", 0, 59), ("hour", 0, 23), ("day", 1, 31), ("month", 1, 12),
                ("weekday", 0, 7))  # fmt: skip
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
_DAYS = {name: n for n, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))}
_NAMED = {"month": _MONTHS, "weekday": _DAYS}
_STEP = re.compile(r"(\*|[0-9a-z]+(?:-[0-9a-z]+)?)(?:/([0-9]{1,4}))?")


def _cron(value: str) -> None:
    for text, (field, low, high) in zip(value.lower().split(), _CRON_RANGES, strict=False):
        if not all(_fits(part, field, low, high) for part in text.split(",")):
            raise fault(
                ProblemKind.INVALID,
                f"The {field} of this cron line is not one: write `*`, {low} to {high}, "
                "a range, a list or a step.",
            )


def _fits(part: str, field: str, low: int, high: int) -> bool:
    match = _STEP.fullmatch(part)
    if match is None or match[2] == "0":
        return False
    if match[1] == "*":
        return True
    names = _NAMED.get(field, {})
    ends = [names.get(end, int(end) if end.isdigit() else -1) for end in match[1].split("-")]
    return all(low <= end <= high for end in ends) and ends == sorted(ends)


class Target(StrEnum):
    """Whom a unit's schedule wakes."""

    EACH = "each"
    LEAD = "lead"


class Schedule(Section):
    """A recurring piece of work."""

    name: Name
    """What it is called; once in its list."""
    cron: Annotated[str, Field(pattern=r"^\s*(\S+\s+){4}\S+\s*$", max_length=200), check(_cron)]
    """When, as five cron fields: minute, hour, day, month, weekday."""
    task: Line
    """What to do then; the agent reads it."""
    timezone: Zone | None = None
    """The clock it goes by; without one the company's."""
    target: Target | None = None
    """For a unit: `each` agent of it (the default) or its `lead`."""
    enabled: bool = True
    """Off keeps it written and does nothing."""
    timeout_seconds: Seconds = 180
    """How long a run may wait to begin."""
    catchup: bool = True
    """Whether a run that was missed is made up for."""


class WorkerSection(Section):
    """A helper that a turn hands a part of its work to."""

    description: Line
    """What it is good for; the agent chooses by it."""
    system_prompt: Text = ""
    """How it works."""
    tools: tuple[Line, ...] = ()
    """The tools it may use."""
    model: Line | None = None
    """A key under `providers.llm`; without one the seat's subagent chain."""
    max_turns: Annotated[int, Field(ge=1, le=200)] | None = None
    """How many rounds it may take, within the ceiling of `turn_engine.delegation`."""
    output: dict[str, Any] | None = None
    """The JSON Schema of its answer."""


class Transport(StrEnum):
    """How a tool server is spoken to."""

    STDIO = "stdio"
    HTTP = "http"


class Hint(StrEnum):
    """What a tool is said to do."""

    READ_ONLY = "readOnlyHint"
    DESTRUCTIVE = "destructiveHint"
    IDEMPOTENT = "idempotentHint"
    OPEN_WORLD = "openWorldHint"


class ToolServer(Section):
    """A server of tools that speaks MCP."""

    name: Name
    """What it is called here; `mcp_env` refers to it."""
    transport: Transport = Transport.STDIO
    """A program of this machine, or an address."""
    shared: bool = True
    """One for the company; false starts one for each seat that gives it `mcp_env`."""
    command: Line | None = None
    """The program of a stdio server."""
    args: tuple[Annotated[str, Field(max_length=4000)], ...] = ()
    """Its arguments."""
    cwd: Line | None = None
    """The folder it runs in."""
    env: Environment = Field(default_factory=dict)
    """Its environment; hidden values."""
    url: Line | None = None
    """The address of an http server."""
    headers: Environment = Field(default_factory=dict)
    """Headers sent to it; hidden values."""
    tool_prefix: Annotated[str, Field(max_length=64)] = ""
    """Put before the names of its tools."""
    tool_annotations: dict[Annotated[str, Field(min_length=1)], dict[Hint, bool]] = Field(
        default_factory=dict
    )
    """What its tools do, by tool, where the server does not say."""
    startup_timeout_seconds: Seconds = 120
    """How long it may take to start."""
    request_timeout_seconds: Seconds = 300
    """How long one call may take."""


class Placement(Section):
    """Which nodes may run a seat."""

    node: Line | None = None
    """One node by its name."""
    labels: dict[Annotated[str, Field(min_length=1)], Line] = Field(default_factory=dict)
    """Labels a node must carry."""


class TrackerBackend(StrEnum):
    """Where work items live."""

    NATIVE = "native"
    JIRA = "jira"
    NONE = "none"


class TrackerSection(Section):
    """Where work is kept."""

    backend: TrackerBackend | None = None
    """Absent, it follows from the vendor blocks."""


class KnowledgeBackend(StrEnum):
    """Where pages live."""

    NATIVE = "native"
    CONFLUENCE = "confluence"
    NONE = "none"


class KnowledgeSection(Section):
    """Where pages are kept."""

    backend: KnowledgeBackend | None = None
    """Absent, it follows from the vendor blocks."""
    scope: tuple[Line, ...] = ()
    """Spaces that are read, by key."""
    skills_container: Line | None = None
    """The space that holds skills; no unit may take it as its own."""
    root_space: Line | None = None
    """The space of the whole company; no unit may take it as its own."""
    vectors: bool = False
    """Search by meaning too; needs `providers.embeddings`."""
