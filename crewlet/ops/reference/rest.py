"""The page of REST routes, from the OpenAPI document that the server itself answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator

from crewlet.ops.reference.markdown import code, codes, table

ACT = "/api/v1/act/"
HEADS = ("method", "address", "query", "what it does")
METHODS = ("get", "post", "put", "patch", "delete")


def body() -> str:
    """Gives the conventional routes by noun, then the rule for verbs."""
    # The schema's own check complains in `make check`; here its words would only be noise.
    with GENERATOR_STATS.silence():
        generator: Any = SchemaGenerator
        schema = generator().get_schema(request=None, public=True)
    rows = list(_rows(schema["paths"]))
    nouns = sorted({noun for noun, *_ in rows})
    parts = [
        f"## {noun}\n\n" + table(HEADS, [row[1:] for row in rows if row[0] == noun])
        for noun in nouns
    ]
    return "\n\n".join(parts)


def _rows(paths: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str, str]]:
    for path, operations in sorted(paths.items()):
        if path.startswith(ACT):
            continue
        for method in METHODS:
            if method in operations:
                operation = operations[method]
                about = operation.get("description") or operation.get("summary") or ""
                noun = (operation.get("tags") or ["other"])[0]
                yield noun, method.upper(), code(path), codes(_query(operation)), about


def _query(operation: Mapping[str, Any]) -> list[str]:
    return [each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"]
