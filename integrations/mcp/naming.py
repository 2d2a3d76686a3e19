"""Names and hints of a server's tools, as a model and the engine can use them. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final

LONGEST: Final = 64
"""What the vendors of models take as the name of a tool."""
_DIGEST: Final = 8
_STRANGE: Final = re.compile(r"[^A-Za-z0-9_-]")

HINTS: Final = {
    "readOnlyHint": "read_only",
    "destructiveHint": "destructive",
    "idempotentHint": "idempotent",
    "openWorldHint": "open_world",
}


def tool_name(server: str, prefixed: str) -> str:
    """Returns the name under which a model calls a tool: letters, digits, `_`, `-`, 64 at most.

    A name that fits stays as it is. Another is made to fit and ends in a digest of what it was and
    of its server, so that two never become one and the same tool has the same name for ever.
    """
    if prefixed and len(prefixed) <= LONGEST and not _STRANGE.search(prefixed):
        return prefixed
    return distinct(server, prefixed)


def distinct(server: str, prefixed: str) -> str:
    """Returns a name that no other tool of the company has."""
    digest = hashlib.sha256(f"{server}\0{prefixed}".encode()).hexdigest()[:_DIGEST]
    fitted = _STRANGE.sub("_", prefixed)[: LONGEST - _DIGEST - 1]
    return f"{fitted}_{digest}"


def hints_of(annotations: Any) -> dict[str, str]:
    """Returns a tool's hints as its server sent them: yes, no, or unknown for anything else."""
    told = annotations if isinstance(annotations, Mapping) else {}
    return {ours: _answer(told.get(theirs)) for theirs, ours in HINTS.items()}


def overridden(
    hints: Mapping[str, str], rules: Mapping[str, Mapping[Any, bool]], *names: str
) -> dict[str, str]:
    """Returns the hints with the company's own word put over them, field by field.

    `names` are what the company may call the tool, a later one going before an earlier one.
    """
    found = dict(hints)
    for name in names:
        for hint, value in rules.get(name, {}).items():
            found[HINTS[str(hint)]] = _answer(value)
    return found


def _answer(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else "unknown"
