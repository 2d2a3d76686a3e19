"""JSON Schema told in words: one table for each object, with type, need and meaning of a field."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from crewlet.ops.reference.markdown import anchor, table

Node = Mapping[str, Any]
_MARK = "x-crewlet-secret"
_LIMITS = {
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "minItems": "at least {} of them",
    "maxItems": "at most {} of them",
}
# Limits that nobody meets by writing what the field is for.
_USUAL = {"minLength": (1,), "maxLength": (20_000,), "maximum": (10**15,), "exclusiveMinimum": (0,)}


def objects(schema: Node) -> str:
    """Gives the root object and every object it leads to, in the order in which they are met."""
    known: Mapping[str, Node] = schema.get("$defs", {})
    met = _reached(schema, known)
    sections = [_section(schema.get("title", "The whole"), schema, known)]
    sections += [
        _section(name, known[name], known) for name in met if known[name].get("type") == "object"
    ]
    return "\n\n".join(sections)


def fields(node: Node, known: Mapping[str, Node]) -> str:
    """Gives the table of an object's fields."""
    needed = set(node.get("required", ()))
    return table(
        ("field", "type", "default", "meaning"),
        [
            (
                f"`{name}`",
                words(field, known),
                "needed" if name in needed else _default(field),
                _meaning(field),
            )
            for name, field in node.get("properties", {}).items()
        ],
    )


def words(node: Node, known: Mapping[str, Node]) -> str:
    """Gives the type of a field in words; an object of its own is a link to its table."""
    if "$ref" in node:
        name = node["$ref"].rsplit("/", 1)[-1]
        return _named(name, known[name], known)
    if "enum" in node:
        return ", ".join(f"`{value}`" for value in node["enum"])
    if "const" in node:
        return f"`{node['const']}`"
    for key in ("anyOf", "oneOf"):
        if key in node:
            return " or ".join(
                dict.fromkeys(words(part, known) for part in node[key] if part != {"type": "null"})
            )
    if node.get("type") == "array":
        return f"list of {words(node.get('items', {}), known)}"
    if node.get("type") == "object":
        inner = node.get("additionalProperties") or next(
            iter(node.get("patternProperties", {}).values()), None
        )
        return f"map of {words(inner, known)}" if isinstance(inner, dict) else "object"
    names = {"string": "text", "integer": "whole number", "boolean": "true or false"}
    return names.get(node.get("type", ""), str(node.get("type", "anything")))


def _named(name: str, node: Node, known: Mapping[str, Node]) -> str:
    return f"[{name}](#{anchor(name)})" if node.get("type") == "object" else words(node, known)


def _section(name: str, node: Node, known: Mapping[str, Node]) -> str:
    about = node.get("description", "")
    return "\n\n".join(part for part in (f"## {name}", about, fields(node, known)) if part)


def _meaning(field: Node) -> str:
    parts = [field.get("description", "").rstrip(".")]
    parts += [
        limit.format(field[key])
        for key, limit in _LIMITS.items()
        if key in field and field[key] not in _USUAL.get(key, ())
    ]
    if "pattern" in field:
        parts.append(f"matches `{field['pattern']}`")
    if _has_secret(field):
        parts.append("a secret: hidden wherever the document is shown")
    text = "; ".join(part for part in parts if part)
    return text[:1].upper() + text[1:] + "." if text else ""


def _has_secret(field: Node) -> bool:
    return bool(field.get(_MARK)) or bool(field.get("items", {}).get(_MARK))


def _default(field: Node) -> str:
    value = field.get("default")
    if value in (None, "", [], {}):
        return ""
    return f"`{json.dumps(value)}`"


def _reached(root: Node, known: Mapping[str, Node]) -> list[str]:
    """Names what the root refers to, breadth first, each once."""
    names: dict[str, None] = {}
    waiting: list[Any] = [root.get("properties", {})]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            name = str(node.get("$ref", "")).rsplit("/", 1)[-1]
            if name in known and name not in names:
                names[name] = None
                waiting.append(known[name])
            waiting += [value for value in node.values() if isinstance(value, (dict, list))]
    return list(names)
