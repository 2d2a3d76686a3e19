"""A client generated from our schema: it is made without a complaint, compiles, and works."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.company import Nobody, found, token_of
from tests.support.processes import Process

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True), pytest.mark.timeout(120)]
BIN = Path(sys.prefix) / "bin"
# The one thing that the generator has no word for; the same address takes JSON as well.
UNKNOWN_TO_IT = "Unsupported content type application/yaml"


@pytest.fixture
def token(web: Process) -> str:
    """A token of the founder's that reads and works."""
    return token_of(found(Nobody()), label="generated")


def generate(web: Process, token: str, folder: Path) -> str:
    """Writes the client and returns what the generator said."""
    headers = {"authorization": f"Bearer {token}"}
    schema = httpx.get(f"{web.url}/api/v1/schema", headers=headers, timeout=20)
    assert schema.status_code == 200, schema.text
    described = folder / "schema.json"
    described.write_text(json.dumps(schema.json()))
    ran = subprocess.run(
        [
            str(BIN / "openapi-python-client"), "generate", "--path", str(described),
            "--output-path", str(folder / "crewlet_client"), "--meta", "none",
        ],
        capture_output=True, text=True, timeout=100, check=True,
        env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "NO_COLOR": "1"},
    )  # fmt: skip
    return ran.stdout + ran.stderr


@pytest.mark.covers("UI-90")
def test_a_client_generated_from_the_schema_works(
    web: Process, token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every address is in it, and a program that knows nothing else files an item once."""
    said = generate(web, token, tmp_path)
    complaints = [line for line in said.splitlines() if "Unable to" in line or "Could not" in line]
    assert not complaints, said
    assert said.count("WARNING") == said.count(UNKNOWN_TO_IT), said
    monkeypatch.syspath_prepend(str(tmp_path))
    for module in sorted((tmp_path / "crewlet_client").rglob("*.py")):
        importlib.import_module(
            ".".join(module.relative_to(tmp_path).with_suffix("").parts).removesuffix(".__init__")
        )
    made = importlib.import_module("crewlet_client")
    models: Any = importlib.import_module("crewlet_client.models")
    file_item: Any = importlib.import_module("crewlet_client.api.work.post_work")
    list_items: Any = importlib.import_module("crewlet_client.api.work.read_work")
    with made.AuthenticatedClient(base_url=web.url, token=token) as client:
        body = models.CreateWorkItemRequest(title="Order rye", project="BAKE")
        first, again = (
            file_item.sync(client=client, body=body, idempotency_key="once") for _ in range(2)
        )
        refused = file_item.sync(client=client, body=body, idempotency_key="x" * 121)
        listed = list_items.sync(client=client, q="rye")
    assert (first.replayed, again.replayed, first.refs) == (False, True, again.refs)
    assert isinstance(refused, models.ErrorAnswer)
    assert refused.error == "op_id_invalid"
    assert [item.title for item in listed.items] == ["Order rye"]
