"""How the OpenAPI schema names operations: by method and address, so that no two ever clash."""

from __future__ import annotations

import re
from typing import Any

from drf_spectacular.openapi import AutoSchema

_VERBS = {"GET": "read", "POST": "post", "PUT": "replace", "PATCH": "change", "DELETE": "delete"}


class Schema(AutoSchema):
    """The schema of one route; `extend_schema(operation_id=…)` still has the last word."""

    def get_operation_id(self) -> str:
        """Returns `read_work` for GET /work and `read_work_key` for GET /work/{key}."""
        place = re.sub(r"[^a-z0-9]+", "_", self.path.removeprefix("/api/v1").lower()).strip("_")
        return f"{_VERBS.get(self.method, self.method.lower())}_{place}"


def finished(
    result: dict[str, Any],
    generator: Any,
    request: Any,
    public: bool,  # noqa: FBT001  # the library calls it so
) -> dict[str, Any]:
    """Completes the whole schema, for programs that are generated from it.

    Every operation may be refused in the one shape of errors. A shape has no title of pydantic's:
    two of one title would be one class, where the name of a component is its own. A value that may
    be anything may be null without saying so twice.
    """
    for place in result["paths"].values():
        for operation in place.values():
            for status, words in _REFUSALS.items():
                operation["responses"].setdefault(status, _refusal(words))
    for shape in result.get("components", {}).get("schemas", {}).values():
        shape.pop("title", None)
        for name, value in shape.get("properties", {}).items():
            shape["properties"][name] = _anything(value)
    return result


_REFUSALS = {"4XX": "refused: the error says what and why", "503": "try again after Retry-After"}


def _refusal(words: str) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/ErrorAnswer"}
    return {"description": words, "content": {"application/json": {"schema": schema}}}


def _anything(value: Any) -> Any:
    if isinstance(value, dict) and {} in value.get("oneOf", ()):
        return {name: each for name, each in value.items() if name != "oneOf"}
    return value
