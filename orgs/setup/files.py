"""The company document of a file, at a start: for an empty store once, or every time."""

from __future__ import annotations

from pathlib import Path

from crewlet.kernel.actors import engine_actor
from crewlet.kernel.errors import CrewletError
from crewlet.ops.embedded.errors import ServerProblem
from crewlet.ops.hooks import UpRequest
from orgs import epochs
from orgs.epochs import active_revision
from orgs.revisions import apply_document, payload_of


def prepare(request: UpRequest) -> str | None:
    """Applies the file that `up` was given; returns a line to show, None where there was nothing
    to do. A seed never touches a company; raises ServerProblem for a file that cannot be one."""
    if request.seed:
        return None if epochs.current() is not None else _apply(request.seed, "The first company")
    if not request.company:
        return None
    return _apply(request.company, f"Import of {Path(request.company).name} at the start")


def _apply(file: str, summary: str) -> str | None:
    try:
        text = Path(file).read_bytes()
        if epochs.current() is not None and payload_of(text) == active_revision().payload:
            return None
        applied = apply_document(engine_actor("up"), text, summary=summary, source="file")
    except OSError as error:
        raise ServerProblem(f"{file} cannot be read: {error.strerror}.") from error
    except CrewletError as error:
        raise ServerProblem(
            f"{error.message} Correct {file}; `manage.py company validate {file}` says it all."
        ) from error
    return f"The company of {file} runs as epoch {applied.epoch}."
