"""A program that knows only the schema calls every address with what it allows, and with less.

Whatever it sends, the answer is one that the schema names, in the shape that the schema gives.
"""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from crewlet.kernel import clock
from crewlet.kernel.authority import ALL_GRANTS
from orgs.models.people import Credential, CredentialKind
from orgs.people.codes import digest_of, new_token
from tests.e2e.company import found
from tests.support.processes import Process, free_port

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True), pytest.mark.timeout(300)]
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,"
    "response_schema_conformance"
)


class Nobody:
    """A model server that no test here asks anything."""

    openai_url = f"http://127.0.0.1:{free_port()}/v1"


def test_no_request_that_the_schema_allows_breaks_an_address(web: Process, tmp_path: Path) -> None:
    """UI-90, UI-92: an error is one of ours, never a fault of the server."""
    rita = found(Nobody())  # type: ignore[arg-type]
    value = new_token()
    Credential.objects.create(
        kind=CredentialKind.TOKEN, label="fuzz", person=rita, digest=digest_of(value),
        grants=[grant.value for grant in ALL_GRANTS], created_at=clock.now(),
        created_by="tests", expires_at=clock.now() + timedelta(days=1),
    )  # fmt: skip
    ran = subprocess.run(
        [
            str(Path(sys.prefix) / "bin" / "schemathesis"), "run", f"{web.url}/api/v1/schema",
            "--header", f"Authorization: Bearer {value}", "--checks", CHECKS,
            "--phases", "examples,fuzzing", "--max-examples", "6", "--seed", "7", "--no-color",
            "--generation-database", "none", "--request-timeout", "20", "--workers", "1",
        ],
        capture_output=True, text=True, timeout=280, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout[-12000:] + ran.stderr[-2000:]
