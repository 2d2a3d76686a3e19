"""Changes to a part of a document: a merge patch (RFC 7396), or one entity by its address. Pure."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Final

from orgs.document.names import derive_handle, derive_unit_key, fold_key

KINDS: Final = ("roles", "units", "llm-providers", "mcp-servers")
_IDENTITY: Final = {"roles": "handle", "units": "id", "mcp-servers": "name"}


def merge_patch(target: Any, patch: Any) -> Any:
    """Gives the target with the patch laid over it: null deletes a key, a list replaces one."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def entity_in(data: dict[str, Any], kind: str, address: str) -> dict[str, Any] | None:
    """Gives one seat, unit, provider or server of a document; None when it has no such one."""
    if kind == "llm-providers":
        found = _models(data).get(address)
        return found if isinstance(found, dict) else None
    place = _place(data, kind, address)
    return place[0][place[1]] if place else None


def with_entity(
    data: dict[str, Any], kind: str, address: str, entity: dict[str, Any]
) -> dict[str, Any]:
    """Gives a copy of the document with the entity in place of the one at that address.

    One that is not there yet is put at the end, a seat and a unit at the root.
    """
    changed = copy.deepcopy(data)
    if kind == "llm-providers":
        changed.setdefault("providers", {}).setdefault("llm", {})[address] = entity
        return changed
    named = {_IDENTITY[kind]: address, **entity} if kind != "mcp-servers" else dict(entity)
    place = _place(changed, kind, address)
    if place:
        place[0][place[1]] = named
    else:
        changed.setdefault(kind.replace("-", "_"), []).append(named)
    return changed


def identity_of(kind: str, entity: dict[str, Any]) -> str | None:
    """Gives the address that an entity names itself; None when it names none."""
    written = entity.get(_IDENTITY.get(kind, ""))
    return written if isinstance(written, str) else None


def same_address(kind: str, one: str, other: str) -> bool:
    """Says whether two addresses of a kind mean one entity."""
    return fold_key(one) == fold_key(other) if kind == "units" else one == other


def _models(data: dict[str, Any]) -> dict[str, Any]:
    llm = (data.get("providers") or {}).get("llm")
    return llm if isinstance(llm, dict) else {}


def _place(data: dict[str, Any], kind: str, address: str) -> tuple[list[Any], int] | None:
    for listed, index in _all(data, kind):
        entry = listed[index]
        if same_address(kind, _address(kind, entry), address):
            return listed, index
    return None


def _address(kind: str, entry: dict[str, Any]) -> str:
    name = str(entry.get("name", ""))
    if kind == "roles":
        return str(entry.get("handle") or derive_handle(name))
    return str(entry.get("id") or derive_unit_key(name)) if kind == "units" else name


def _all(data: dict[str, Any], kind: str) -> Iterator[tuple[list[Any], int]]:
    if kind == "mcp-servers":
        yield from _listed(data, "mcp_servers")
        return
    if kind == "roles":
        yield from _listed(data, "roles")
    for units, index in _units(data, "units"):
        if kind == "units":
            yield units, index
        else:
            yield from _listed(units[index], "roles")


def _units(holder: dict[str, Any], key: str) -> Iterator[tuple[list[Any], int]]:
    for units, index in _listed(holder, key):
        yield units, index
        yield from _units(units[index], "children")


def _listed(holder: dict[str, Any], key: str) -> Iterator[tuple[list[Any], int]]:
    listed = holder.get(key) or []
    yield from ((listed, index) for index in range(len(listed)))
