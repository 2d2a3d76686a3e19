"""The JSON Schema of the document, made from the same declarations that check it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from orgs.document.company import CompanyDocument

COMMITTED: Final = Path(__file__).with_name("company.schema.json")
DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def schema() -> dict[str, Any]:
    """Gives the schema (2020-12): closed objects, no empty values, secrets marked."""
    made: dict[str, Any] = _cleaned(CompanyDocument.model_json_schema(mode="validation"))
    return {"$schema": DIALECT, "title": "A Crewlet company", **made}


def schema_text() -> str:
    """Gives the schema as the committed file holds it."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def _cleaned(node: Any) -> Any:
    """Drops what says nothing (titles, null defaults) and the empty value no key accepts."""
    if isinstance(node, list):
        return [_cleaned(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {
        key: {name: _cleaned(inner) for name, inner in value.items()}
        if key in ("properties", "$defs")
        else _cleaned(value)
        for key, value in node.items()
        if not (key == "title" and isinstance(value, str)) and not (key == "default" and not value)
    }
    choices = kept.get("anyOf")
    if isinstance(choices, list) and {"type": "null"} in choices:
        left = [choice for choice in choices if choice != {"type": "null"}]
        del kept["anyOf"]
        kept.update(left[0] if len(left) == 1 else {"anyOf": left})
    return kept
