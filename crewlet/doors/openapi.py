"""How the OpenAPI schema names operations: by method and address, so that no two ever clash."""

from __future__ import annotations

import re

from drf_spectacular.openapi import AutoSchema

_VERBS = {"GET": "read", "POST": "post", "PUT": "replace", "PATCH": "change", "DELETE": "delete"}


class Schema(AutoSchema):
    """The schema of one route; `extend_schema(operation_id=…)` still has the last word."""

    def get_operation_id(self) -> str:
        """Returns `read_work` for GET /work and `read_work_key` for GET /work/{key}."""
        place = re.sub(r"[^a-z0-9]+", "_", self.path.removeprefix("/api/v1").lower()).strip("_")
        return f"{_VERBS.get(self.method, self.method.lower())}_{place}"
