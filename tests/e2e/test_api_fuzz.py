"""A program that knows only the schema calls every address with what it allows, and with less.

Whatever it sends, the answer is one that the schema names, in the shape that the schema gives.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from crewlet.kernel.authority import ALL_GRANTS
from tests.e2e.company import Nobody, found, token_of
from tests.support.processes import Process

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True), pytest.mark.timeout(300)]
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,"
    "response_schema_conformance"
)


@pytest.mark.covers("UI-90", "UI-92")
def test_no_request_that_the_schema_allows_breaks_an_address(web: Process, tmp_path: Path) -> None:
    """An error is one of ours, never a fault of the server."""
    value = token_of(found(Nobody()), *ALL_GRANTS, label="fuzz")
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
