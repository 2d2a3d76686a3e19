"""Sandboxes: where coding agents run, and what a seat asks of one."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from orgs.document.fields import Line, Name, Section, Text
from orgs.document.parts import Environment, Seconds, Secret


class SandboxType(StrEnum):
    """Who provides the sandbox."""

    LOCAL = "local"
    E2B = "e2b"
    FAKE = "fake"
    NONE = "none"


class CodingAgent(StrEnum):
    """The coding agent that works inside."""

    CLAUDE_CODE = "claude-code"
    OPENCODE = "opencode"


class RunIn(StrEnum):
    """Where a run happens: on the host, in a container, remote, or where the agent itself runs."""

    DIRECT = "direct"
    CONTAINER = "container"
    E2B = "e2b"
    SELF = "self"


class Containment(StrEnum):
    """How a local sandbox is held."""

    DIRECT = "direct"
    CONTAINER = "container"


class ContainerRuntime(StrEnum):
    """The program that runs containers."""

    AUTO = "auto"
    DOCKER = "docker"
    PODMAN = "podman"


class SetupStep(Section):
    """One step that prepares a sandbox."""

    name: Name
    """What it is called; once in its list."""
    files: dict[Annotated[str, Field(min_length=1)], Text] = Field(default_factory=dict)
    """Files to write, by path."""
    commands: tuple[Line, ...] = ()
    """Commands to run, in order."""
    env: Environment = Field(default_factory=dict)
    """Variables the work sees; hidden values."""
    brief: Text = ""
    """What the coding agent is told about it."""
    timeout_seconds: Seconds = 600
    """How long the step may take."""


class LocalSandbox(Section):
    """A sandbox on the node itself."""

    containment: Containment = Containment.DIRECT
    """Straight on the host, or in a container."""
    image: Line | None = None
    """The container's image."""
    runtime: ContainerRuntime = ContainerRuntime.AUTO
    """The program that runs it."""
    state_dir: Line | None = None
    """The folder where its state is kept."""
    network: Line | None = None
    """The container's network."""
    run_args: tuple[Line, ...] = ()
    """More arguments to the runtime."""


class SandboxProvider(Section):
    """Where coding happens for every seat that has a sandbox."""

    type: SandboxType = SandboxType.LOCAL
    """Who provides it."""
    local: LocalSandbox | None = None
    """Settings of a local one."""
    api_key: Secret | None = None
    """Key to a rented one."""
    domain: Line | None = None
    """The address of a rented one, when it is not the vendor's."""
    template: Line | None = None
    """The vendor's template."""
    default_run_in: RunIn | None = None
    """Where runs happen when the seat says nothing."""
    default_coding_agent: CodingAgent = CodingAgent.CLAUDE_CODE
    """The coding agent when the seat names none."""
    default_timeout_seconds: Seconds = 900
    """How long one run may take."""
    default_pause_ttl_seconds: Annotated[int, Field(ge=0, le=604_800)] = 1800
    """How long a parked sandbox is kept."""
    default_max_turns: Annotated[int, Field(ge=1, le=1000)] | None = None
    """How many rounds one run may take."""
    setup: tuple[SetupStep, ...] = ()
    """Steps for every sandbox."""


class SandboxServers(Section):
    """Tool servers inside a sandbox."""

    servers: tuple[Line, ...] = ()
    """Names of `mcp_servers` that the coding agent may use."""


class SeatSandbox(Section):
    """What a seat asks of its sandbox."""

    enabled: bool = False
    """Whether the seat works in one."""
    coding_agent: CodingAgent | None = None
    """Its coding agent."""
    run_in: RunIn | None = None
    """Where its runs happen."""
    pause_ttl_seconds: Annotated[int, Field(ge=0, le=604_800)] | None = None
    """How long a parked one is kept."""
    max_turns: Annotated[int, Field(ge=1, le=1000)] | None = None
    """How many rounds one run may take."""
    mcp: SandboxServers | None = None
    """Tool servers inside it."""
    env: Environment = Field(default_factory=dict)
    """Variables the work sees; hidden values."""
    setup: tuple[SetupStep, ...] = ()
    """More steps for this seat."""
