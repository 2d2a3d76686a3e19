"""What is different between two documents, told by who and what it is, not by line. Pure.

A seat is known by its handle, a unit by its key, a provider by its key, wherever they stand: a
seat that moved to another unit is one change of its `unit`, not one seat less and one more.
Documents are compared as they are and shown with their secrets hidden, so a changed key shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from orgs.document.secrets import masked

_NESTED: Final = {"providers", "roles", "units", "children"}
COMPANY: Final = "company"

Entities = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Difference:
    """One field of one entity (`seat baker`), or the whole entity where `field` is empty.

    `kind` is added, removed or changed; a value that is absent is None.
    """

    entity: str
    field: str
    kind: str
    before: Any
    after: Any

    def as_json(self) -> dict[str, Any]:
        """Returns it as plain data."""
        return asdict(self)


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Difference]:
    """Lists what `after` adds, removes and changes, in the order of the documents."""
    old, new = _entities(before), _entities(after)
    old_shown, new_shown = _entities(masked(dict(before))), _entities(masked(dict(after)))
    found = []
    for entity in dict.fromkeys((*new, *old)):
        if entity not in old:
            found.append(Difference(entity, "", "added", None, new_shown[entity]))
        elif entity not in new:
            found.append(Difference(entity, "", "removed", old_shown[entity], None))
        else:
            found += [
                Difference(
                    entity, field, "changed",
                    old_shown[entity].get(field), new_shown[entity].get(field),
                )
                for field in dict.fromkeys((*new[entity], *old[entity]))
                if new[entity].get(field) != old[entity].get(field)
            ]  # fmt: skip
    return found


def _entities(document: Mapping[str, Any]) -> Entities:
    found: Entities = {COMPANY: _own(document)} if document else {}
    providers = document.get("providers") or {}
    for key, entry in providers.items():
        if key != "llm":
            found[COMPANY][f"providers.{key}"] = entry
    for key, entry in (providers.get("llm") or {}).items():
        found[f"provider {key}"] = dict(entry)
    found.update(_seats(document.get("roles") or (), ""))
    for unit, parent in _units(document.get("units") or (), ""):
        key = str(unit.get("id") or unit["name"])
        found[f"unit {key}"] = _own(unit) | {"parent": parent}
        found.update(_seats(unit.get("roles") or (), key))
    return found


def _seats(roles: Any, unit: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for role in roles:
        yield f"seat {role.get('handle') or role['name']}", {"unit": unit, **role}


def _units(units: Any, parent: str) -> Iterator[tuple[dict[str, Any], str]]:
    for unit in units:
        yield unit, parent
        yield from _units(unit.get("children") or (), str(unit.get("id") or unit["name"]))


def _own(section: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in section.items() if key not in _NESTED}
