"""The tool door: an action as a language model sees it."""

from __future__ import annotations

from typing import Any

from crewlet.kernel.actions import Action


def tool_schema(entry: Action) -> dict[str, Any]:
    """Returns the JSON Schema of an action's arguments, without titles that say nothing."""
    schema: dict[str, Any] = _without_titles(entry.args.model_json_schema())
    schema.setdefault("properties", {})
    schema.pop("description", None)
    return schema


def _without_titles(node: Any, *, names: bool = False) -> Any:
    """Drops `title` keywords; under `properties` and `$defs` the keys are names and stay."""
    if isinstance(node, dict):
        return {
            key: _without_titles(value, names=key in ("properties", "$defs"))
            for key, value in node.items()
            if names or key != "title"
        }
    if isinstance(node, list):
        return [_without_titles(value) for value in node]
    return node
