"""The page of verbs, from the action registry."""

from __future__ import annotations

from itertools import groupby

from crewlet.kernel.actions import ACTIONS, Action, Door
from crewlet.ops.reference.markdown import anchor, code, codes, table
from crewlet.ops.reference.shapes import fields

DOORS = (Door.TOOL, Door.MCP, Door.REST, Door.FORM, Door.CLI)


def body() -> str:
    """Gives an overview of all verbs and a section for each."""
    entries = ACTIONS.all()
    apps = groupby(sorted(entries, key=lambda entry: (_app(entry), entry.name)), _app)
    parts = [_overview(entries), *(_app_part(app, list(own)) for app, own in apps)]
    return "\n\n".join([*parts, _shared(entries)])


def _app(entry: Action) -> str:
    return entry.function.__module__.split(".", 1)[0]


def _overview(entries: list[Action]) -> str:
    return table(
        ("action", *(door.value for door in DOORS), "grant"),
        [
            (
                f"[{entry.name}](#{anchor(entry.name)})",
                *("yes" if door in entry.doors else "" for door in DOORS),
                code(entry.grant.value if entry.grant else ""),
            )
            for entry in entries
        ],
    )


def _app_part(app: str, entries: list[Action]) -> str:
    return "\n\n".join([f"## Of {app}"] + [_section(entry) for entry in entries])


def _section(entry: Action) -> str:
    schema = entry.args.model_json_schema()
    parts = [f"### {entry.name}", entry.description, _facts(entry)]
    if schema.get("properties"):
        parts.append(fields(schema, schema.get("$defs", {})))
    return "\n\n".join(parts)


def _facts(entry: Action) -> str:
    facts = [f"Doors: {codes(door.value for door in DOORS if door in entry.doors)}."]
    if entry.grant:
        facts.append(f"Grant: `{entry.grant.value}`.")
    if entry.rules:
        facts.append(f"Rules: {codes(entry.rules)}.")
    if entry.surface:
        facts.append(f"A success counts as a delivery on `{entry.surface}`.")
    if entry.reads:
        facts.append("Only reads.")
    if entry.destructive:
        facts.append("Cannot be taken back by the same verb.")
    return " ".join(facts)


def _shared(entries: list[Action]) -> str:
    """Gives every object inside arguments once: no two of them may have one name."""
    found = {
        name: f"### {name}\n\n{fields(node, schema['$defs'])}"
        for schema in (entry.args.model_json_schema() for entry in entries)
        for name, node in schema.get("$defs", {}).items()
        if node.get("type") == "object"
    }
    return "\n\n".join(["## Objects inside arguments", *(found[name] for name in sorted(found))])
