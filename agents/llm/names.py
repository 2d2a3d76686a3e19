"""Tool names and call ids in the spelling a wire accepts, and back.

Both are pure functions of the name, so an answer replayed ten rounds or one process later meets the
spelling it was given under.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping

LONGEST_NAME = 64
LONGEST_ID = 40
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PLAIN_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_OTHER = re.compile(r"[^A-Za-z0-9_-]+")
_CONTROL = "<|"
_AROUND = re.compile(r"^(?:functions|tools|default_api)[.:]|:\d+$")
_HASH_LENGTH = 8


def wire_name(name: str) -> str:
    """Returns the name in `[A-Za-z0-9_-]{1,64}`; a changed name ends in a hash of the real one."""
    if _PLAIN_NAME.fullmatch(name):
        return name
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:_HASH_LENGTH]
    stem = _OTHER.sub("_", name).strip("_") or "tool"
    return f"{stem[: LONGEST_NAME - _HASH_LENGTH - 1]}_{digest}"


def wire_names(names: Iterable[str]) -> Mapping[str, str]:
    """Returns wire spelling → real name for the tools of one request, in their order.

    A tool that is really called what another one is spelled as wins; the other is left out, so no
    call ever reaches the wrong tool.
    """
    ours = list(dict.fromkeys(names))
    plain = {name for name in ours if wire_name(name) == name}
    table: dict[str, str] = {}
    for name in ours:
        spelled = wire_name(name)
        if name in plain or spelled not in plain:
            table.setdefault(spelled, name)
    return table


def real_name(spelled: str, table: Mapping[str, str]) -> str:
    """Returns the tool a model meant: control tokens and a namespace cut off, mapped back.

    A name nobody offered comes back as it was written, for the failed result to name it.
    """
    name = spelled.split(_CONTROL, 1)[0].strip(" \t\r\n\"'`")
    bare = _AROUND.sub("", name)
    for candidate in (name, bare, _halved(bare)):
        if candidate in table:
            return table[candidate]
        if candidate in table.values():
            return candidate
    return name or spelled.strip()


def _halved(name: str) -> str:
    """Returns a name that a gateway joined to itself once, or several times, as it was."""
    for length in range(1, len(name) // 2 + 1):
        if len(name) % length == 0 and name[:length] * (len(name) // length) == name:
            return name[:length]
    return name


def wire_id(call_id: str) -> str:
    """Returns the id of a call in letters every wire accepts, the same for call and result."""
    if _PLAIN_ID.fullmatch(call_id):
        return call_id
    return "call_" + hashlib.sha256(call_id.encode("utf-8", "replace")).hexdigest()[:24]


def short_id(call_id: str) -> str:
    """Returns nine letters and digits, the only ids that Mistral accepts."""
    if re.fullmatch(r"[A-Za-z0-9]{9}", call_id):
        return call_id
    return hashlib.sha256(call_id.encode("utf-8", "replace")).hexdigest()[:9]
