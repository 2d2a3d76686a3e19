"""The recipes of the docs are run as they stand there: a shell, real curl, a real web process."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from crewlet.environment import BASE_DIR
from crewlet.kernel.actors import engine_actor
from crewlet.kernel.authority import Grant
from orgs import epochs
from orgs.models.company import ConfigRevision
from orgs.revisions import apply_document
from tests.e2e.company import token_of
from tests.support.people import a_person
from tests.support.processes import Processes

PAGE = BASE_DIR / "docs/operator/configure-by-api.md"
FENCE = re.compile(r"^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STATUS = "\n%{stderr}HTTP %{http_code}\n"
COMPANY = """\
name: Harbour Bakery
mission: Bread
roles:
  - {name: Ana, handle: ana, kind: human, email: ana@harbour.example}
  - {name: Kofi, handle: kofi, goal: Bake}
providers:
  llm:
    main: {type: openai, model: gpt-5, api_keys: ["${BAKERY_KEY}"]}
"""

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl"),
]


def recipes() -> list[str]:
    """The blocks of the page, in its order."""
    return FENCE.findall(PAGE.read_text(encoding="utf-8"))


def run(script: str, folder: Path, **environment: str) -> tuple[list[int], str]:
    """Runs shell text; returns the status of every curl and what was printed."""
    (folder / ".curlrc").write_text(f"write-out = {json.dumps(STATUS)}\n")
    done = subprocess.run(
        ["/bin/sh", "-eu", "-c", script],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "CURL_HOME": str(folder), **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [int(code) for code in re.findall(r"HTTP (\d+)", done.stderr)], done.stdout


def answers(printed: str) -> list[Any]:
    """The JSON answers among what was printed."""
    return [json.loads(line) for line in printed.splitlines() if line.startswith("{")]


@pytest.mark.covers("ORG-34", "ORG-41")
def test_the_recipes_of_the_page_work_in_their_order(processes: Processes, tmp_path: Path) -> None:
    apply_document(engine_actor("tests"), COMPANY, summary="A bakery")
    token = token_of(a_person(), Grant.CONFIG_READ, Grant.CONFIG_WRITE)
    web = processes.start_web()
    blocks = recipes()
    assert len(blocks) == 7, "a block that is not run is a recipe that may be wrong"
    # One shell for all of it: what a block sets, later ones use.
    codes, printed = run("".join(blocks), tmp_path, TOKEN=token, CREWLET=web.url)
    assert codes == [200, 200, 200, 201, 201, 201, 200, 200, 201, 200, 201]
    told = answers(printed)
    assert told[0]["valid"] is True
    assert any("BAKERY_KEY" in json.dumps(answer) for answer in told)
    epochs.forget()
    assert epochs.active().document.mission == "Bread", "the revert took the patch back"
    kept = list(ConfigRevision.objects.order_by("created_at").values_list("summary", flat=True))
    assert kept[-5:] == ["A bakery", "A second oven", "A shorter mission", "A spare", "Back"]
    assert "${BAKERY_KEY}" in (tmp_path / "company.yaml").read_text()


@pytest.mark.covers("ORG-51")
def test_the_recipe_of_a_replacement_is_refused_when_somebody_saved_first(
    processes: Processes, tmp_path: Path
) -> None:
    apply_document(engine_actor("tests"), COMPANY, summary="A bakery")
    token = token_of(a_person(), Grant.CONFIG_READ, Grant.CONFIG_WRITE)
    web = processes.start_web()
    read, _try, replace, change, *_ = recipes()
    codes, printed = run(read + change + replace, tmp_path, TOKEN=token, CREWLET=web.url)
    assert codes == [200, 201, 409]
    assert answers(printed)[-1]["error"] == "revision_advanced"
