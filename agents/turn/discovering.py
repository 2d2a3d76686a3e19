"""The two calls by which a phase's model finds tools of servers; see `agents.tools.discovery`."""

from __future__ import annotations

from agents.tools import discovery
from agents.tools.run_call import CallResult
from agents.tools.tool import Tool
from agents.turn import words
from agents.turn.machine import PhaseName, due
from agents.turn.phases.execute import shown
from agents.turn.record import CallRecord, PhaseRecord
from agents.turn.running import Running
from crewlet.kernel.errors import CrewletError
from crewlet.kernel.events import EventType
from crewlet.kernel.redact import clean


def hidden(phase: PhaseRecord, tool: Tool) -> bool:
    """Whether a tool of a server is not shown in this phase yet."""
    return bool(tool.server) and all(one["name"] != tool.name for one in phase.tools)


def unknown(running: Running, name: str) -> str:
    """Says that there is no such tool, and to a seat with servers how one is found."""
    servers = discovery.servers_of(running.snapshot, running.handle)
    if not servers:
        return words.UNKNOWN_TOOL.format(name=name)
    return discovery.unknown_tool(name, running.tools, servers)


def run(running: Running, call: CallRecord) -> CallResult:
    """Lists a server's tools, or shows one of them to the phase that asks."""
    wanted = (call.args or {}).get("server" if call.name == discovery.LIST else "name")
    if not isinstance(wanted, str) or not wanted:
        return CallResult.failed(f"{call.name} was not run: it takes one name, as a text.")
    if call.name == discovery.LIST:
        return _list(running, wanted)
    return _activate(running, _phase_of(running, call), wanted)


def _list(running: Running, server: str) -> CallResult:
    names = discovery.servers_of(running.snapshot, running.handle)
    if server not in names:
        return CallResult.failed(discovery.unknown_server(server, names))
    try:
        discovery.ask(running.snapshot, running.handle, server)
    except CrewletError as error:
        return CallResult.failed(
            f"{clean(error.message)} Its tools are absent for now; every other tool works."
        )
    running.look_again()
    return CallResult(ok=True, text=discovery.listing(server, running.tools))


def _activate(running: Running, phase: PhaseRecord, name: str) -> CallResult:
    tool = running.tool(name)
    if tool is None:
        return CallResult.failed(unknown(running, name))
    if not hidden(phase, tool):
        return CallResult(ok=True, text=f"`{name}` is shown to you already: call it.")
    # The phase keeps what it shows, so that one that is resumed has the same tools.
    phase.tools.append(shown(tool.for_model()))
    phase.widened = True
    running.journal.phase_moved(phase)
    running.journal.tell(
        EventType.PHASE_TOOL_ACTIVATED,
        f"{running.seat.name} took up {name} of {tool.server}",
        payload={
            "phase": phase.phase.value,
            "iteration": phase.iteration,
            "tool": name,
            "server": tool.server,
        },
    )
    return CallResult(ok=True, text=f"`{name}` is shown to you from your next answer on.")


def _phase_of(running: Running, call: CallRecord) -> PhaseRecord:
    found = (
        phase
        for phase in running.record.phases
        if phase.phase is PhaseName.EXECUTE and any(one.id == call.id for one in phase.calls())
    )
    return due(next(found, None), "the phase of the call")
