"""Which servers a seat has, and how each is reached from this process."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from uuid import UUID

from django.utils.crypto import salted_hmac

if TYPE_CHECKING:
    from orgs.document.parts import ToolServer
    from orgs.epochs import Snapshot

_INHERITED: Final = frozenset(
    {
        "PATH", "LANG", "LANGUAGE", "TZ", "TERM", "HOME", "USER", "LOGNAME", "TMPDIR",
        "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
        "NODE_EXTRA_CA_CERTS", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
        "http_proxy", "https_proxy", "all_proxy", "no_proxy",
    }
)  # fmt: skip
_INHERITED_FAMILIES: Final = ("LC_", "XDG_")

Key = tuple[UUID | None, str]
"""A server as it runs: of a seat, or the company's, and its name."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How one server is reached. `lacks` says in words why it cannot be; times are seconds."""

    server: str
    seat_id: UUID | None
    url: str = ""
    command: tuple[str, ...] = ()
    cwd: str = ""
    own: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables of a program's environment, or headers to an address."""
    start_seconds: float = 120.0
    call_seconds: float = 300.0
    lacks: str = ""

    @property
    def key(self) -> Key:
        return (self.seat_id, self.server)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that must not come back in a text; a short one is no secret but a switch."""
        return tuple(value for value in self.own.values() if len(value) >= 8)  # noqa: PLR2004

    @property
    def environment(self) -> dict[str, str]:
        """A child's environment: what every program needs, and its own; nothing of the worker's."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if name in _INHERITED or name.startswith(_INHERITED_FAMILIES)
        }
        return kept | dict(self.own)

    @property
    def digest(self) -> str:
        """Differs when a running child must be started anew to be what the document says."""
        parts = [self.url, self.command, self.cwd, sorted(self.own.items()), self.call_seconds]
        return salted_hmac("crewlet.mcp", json.dumps(parts)).hexdigest()


def reaches(snapshot: Snapshot, handle: str) -> list[Reach]:
    """Returns the servers of a seat: its own first, then the company's, in the document's order.

    A server that is not shared is there for a seat that gives it `mcp_env`, itself or its unit.
    """
    entries = snapshot.document.mcp_servers
    if not entries:
        return []
    given = _given(snapshot, handle)
    own = [
        _reach(entry, snapshot.seat_ids[handle], given[entry.name])
        for entry in entries
        if not entry.shared and entry.name in given
    ]
    return own + [_reach(entry, None, {}) for entry in entries if entry.shared]


def every(snapshot: Snapshot) -> Iterator[Reach]:
    """Yields every server of the company once: the shared ones, then each seat's own."""
    entries = snapshot.document.mcp_servers
    yield from (_reach(entry, None, {}) for entry in entries if entry.shared)
    if all(entry.shared for entry in entries):
        return
    for seat in snapshot.chart.walk():
        if seat.is_agent and seat.handle in snapshot.seat_ids:
            yield from (r for r in reaches(snapshot, seat.handle) if r.seat_id is not None)


def entry_of(snapshot: Snapshot, server: str) -> ToolServer | None:
    """Returns what the document says of a server."""
    return next((e for e in snapshot.document.mcp_servers if e.name == server), None)


def _given(snapshot: Snapshot, handle: str) -> dict[str, dict[str, str]]:
    """The seat's variables by server: its unit's, each replaced by its own of the same name."""
    seat = snapshot.chart.seats[handle]
    found: dict[str, dict[str, str]] = {}
    sources = [_unit_given(snapshot, seat.unit), seat.role.mcp_env if seat.role else {}]
    for source in sources:
        for server, variables in source.items():
            found.setdefault(server, {}).update(variables)
    return found


def _unit_given(snapshot: Snapshot, unit: str | None) -> Mapping[str, Mapping[str, str]]:
    if unit is None:
        return {}
    section: object = snapshot.document
    for step in snapshot.chart.units[unit].path:
        section = section[step] if isinstance(step, int) else getattr(section, step)  # type: ignore[index]
    return getattr(section, "mcp_env", {})


def _reach(entry: ToolServer, seat_id: UUID | None, given: Mapping[str, str]) -> Reach:
    from agents.llm.chain import missing_variables, resolved  # brings models; a `Reach` needs none

    over_http = entry.transport.value == "http"
    own = {**(entry.headers if over_http else entry.env), **given}
    texts = [entry.url or "", *entry.args, entry.command or "", entry.cwd or "", *own.values()]
    missing = sorted({name for text in texts for name in missing_variables(text)})
    lacks = ""
    if missing:
        lacks = (
            f"it reads the variable {missing[0]}, which is not set where Crewlet runs; set it and "
            "restart"
        )
    return Reach(
        server=entry.name,
        seat_id=seat_id,
        url=resolved(entry.url or "") if over_http else "",
        command=() if over_http else tuple(resolved(t) for t in (entry.command or "", *entry.args)),
        cwd=resolved(entry.cwd or ""),
        own={name: resolved(value) for name, value in own.items()},
        start_seconds=float(entry.startup_timeout_seconds),
        call_seconds=float(entry.request_timeout_seconds),
        lacks=lacks,
    )
