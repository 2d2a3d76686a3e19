"""`manage.py company`: the same verbs at a terminal, with exit codes and located faults."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from crewlet.ops.embedded.errors import ServerProblem
from crewlet.ops.hooks import UP_HOOKS, UpRequest
from orgs import epochs
from orgs.document.schema import schema
from orgs.document.source import read
from orgs.models.company import ConfigRevision
from orgs.queries import company as company_queries
from tests.orgs.companies import TWO_TEAMS, company, without
from tests.orgs.document.full import FULL
from tests.orgs.document.test_validation import TEN_FAULTS

COMMITS = pytest.mark.django_db(transaction=True)


def run(*words: str) -> tuple[int, str, str]:
    """Runs the command here; returns its exit code and both outputs."""
    out, err = StringIO(), StringIO()
    try:
        call_command("company", *words, stdout=out, stderr=err)
    except SystemExit as end:
        return int(end.code or 0), out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


def answer(*words: str) -> Any:
    code, out, err = run(*words, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "company.yaml"
    path.write_text(TWO_TEAMS, encoding="utf-8")
    return path


@pytest.mark.covers("ORG-31")
def test_validate_needs_no_database_network_or_environment(file: Path) -> None:
    bare = {"PATH": os.environ["PATH"], "DATABASE_URL": "postgresql://nobody@127.0.0.1:9/none"}
    done = subprocess.run(
        [sys.executable, "manage.py", "company", "validate", str(file), "--json"],
        cwd=settings.BASE_DIR, env=bare, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert told["valid"] is True
    assert told["facts"]["handles"][:2] == ["rita", "chief"]


@pytest.mark.covers("ORG-31")
def test_validate_prints_every_fault_with_file_and_line(file: Path) -> None:
    file.write_text(TEN_FAULTS, encoding="utf-8")
    code, out, err = run("validate", str(file))
    lines = out.strip().splitlines()
    assert (code, err) == (1, "")
    assert len([line for line in lines if line.startswith(f"{file}:")]) >= 10
    assert f"{file}:2: mision:" in lines[0]
    code, out, err = run("validate", str(file), "--json")
    assert (code, err) == (1, "")
    assert len(json.loads(out)["problems"]) == 10


def test_validate_says_that_a_file_is_not_there() -> None:
    code, out, _ = run("validate", "/nowhere/company.yaml")
    assert code == 1
    assert "No such file" in out


def test_schema_prints_or_writes_the_schema(tmp_path: Path) -> None:
    target = tmp_path / "schema.json"
    code, _, _ = run("schema", "-o", str(target))
    assert code == 0
    assert json.loads(target.read_text(encoding="utf-8")) == schema()


@COMMITS
def test_import_applies_and_export_gives_back_what_imports_again(
    file: Path, tmp_path: Path
) -> None:
    assert answer("import", str(file), "--dry-run")["status"] == "checked"
    assert epochs.current() is None
    first = answer("import", str(file), "--summary", "Founding")
    assert first["epoch"] == epochs.current()
    exported = tmp_path / "out.yaml"
    assert run("export", "-o", str(exported))[0] == 0
    again = answer("import", str(exported))
    assert again["epoch"] == epochs.current()
    assert again["added"] == again["removed"] == []
    rows = list(ConfigRevision.objects.order_by("id"))
    assert rows[0].payload == rows[1].payload
    assert rows[0].summary == "Founding"


@COMMITS
def test_ten_faults_change_nothing(file: Path) -> None:
    answer("import", str(file))
    before = epochs.current()
    file.write_text(TEN_FAULTS, encoding="utf-8")
    code, out, err = run("import", str(file))
    assert code != 0
    assert out == ""
    assert len([line for line in err.splitlines() if line.startswith(f"{file}:")]) == 10
    assert (epochs.current(), ConfigRevision.objects.count()) == (before, 1)


@COMMITS
def test_an_import_on_an_old_base_is_kept_and_not_live(file: Path) -> None:
    first = answer("import", str(file))
    answer("import", str(file))
    live = epochs.current()
    file.write_text(without(TWO_TEAMS, "Seller"), encoding="utf-8")
    code, out, _ = run("import", str(file), "--base", first["revision_id"])
    assert code == 1
    assert "Somebody saved first" in out
    assert epochs.current() == live


@COMMITS
def test_show_revisions_and_activate(file: Path) -> None:
    first = answer("import", str(file), "--summary", "One")
    file.write_text(without(TWO_TEAMS, "Seller"), encoding="utf-8")
    answer("import", str(file), "--summary", "Two")
    code, out, _ = run("revisions")
    assert code == 0
    newest, oldest = out.strip().splitlines()
    assert newest.startswith("* ") and newest.endswith("Two")
    assert oldest.endswith("One")
    back = answer("activate", first["revision_id"], "--summary", "Back")
    assert back["epoch"] == epochs.current()
    assert answer("activate", "current")["revision_id"] == back["revision_id"]
    _, shown, _ = run("show")
    assert "seller: Seller (agent) in shop, reports to shop-lead" in shown
    assert run("activate", "not-an-id")[0] == 2


@COMMITS
def test_export_prints_keys_and_hides_them_on_request(file: Path) -> None:
    file.write_text(
        company("providers: {llm: {a: {type: openai, model: m, api_keys: [literal-key]}}}"),
        encoding="utf-8",
    )
    answer("import", str(file))
    assert "literal-key" in run("export")[1]
    hidden = run("export", "--redact")[1]
    assert "literal-key" not in hidden
    assert read(hidden).data["providers"]["llm"]["a"]["api_keys"] == ["__redacted__"]


@COMMITS
def test_without_a_company_export_says_what_to_do() -> None:
    code, _, err = run("export")
    assert code == 2
    assert "company import" in err


@pytest.mark.covers("ORG-36", "ORG-37")
@COMMITS
def test_an_exported_company_comes_back_without_a_difference(tmp_path: Path) -> None:
    """Export and import again; also masked, the values behind stay."""
    first = tmp_path / "full.yaml"
    first.write_text(FULL.replace('"${H}"', "literal-header"), encoding="utf-8")
    answer("import", str(first))
    for words in ([], ["--redact"]):
        out = tmp_path / "out.yaml"
        answer("export", "-o", str(out), *words)
        assert ("literal-header" in out.read_text(encoding="utf-8")) is not bool(words)
        again = answer("import", str(out), "--summary", "Again")
        assert answer("diff", again["revision_id"])["differences"] == []
    assert "literal-header" in answer("export")["text"]


@pytest.mark.covers("ORG-41", "ORG-135")
@COMMITS
def test_revert_reload_and_references_at_a_terminal(tmp_path: Path, file: Path) -> None:
    first = answer("import", str(file))
    file.write_text(TWO_TEAMS.replace("Bread by six", "${WHEN} bread"), encoding="utf-8")
    second = answer("import", str(file))
    assert answer("references")["references"] == [{"name": "WHEN", "paths": ["mission"]}]
    assert "WHEN: mission" in run("references")[1]
    again = answer("reload", "--summary", "New values")
    assert again["revision_id"] == second["revision_id"]
    assert again["epoch"] > second["epoch"]
    back = answer("revert", first["revision_id"], "--summary", "Back")
    assert back["revision_id"] not in (first["revision_id"], second["revision_id"])
    assert answer("export")["document"]["mission"].startswith("Bread by six")


@pytest.mark.covers("ORG-36")
@COMMITS
def test_import_says_what_it_changes_before_and_after(file: Path) -> None:
    dry = answer("import", str(file), "--dry-run")
    assert {row["entity"] for row in dry["differences"]} >= {"company", "seat baker"}
    assert epochs.current() is None
    answer("import", str(file))
    file.write_text(TWO_TEAMS.replace("Bread by six", "Bread by five"), encoding="utf-8")
    dry = answer("import", str(file), "--dry-run")
    (change,) = dry["differences"]
    assert (change["field"], change["before"][:12]) == ("mission", "Bread by six")
    real = answer("import", str(file), "--summary", "Earlier bread")
    assert real["differences"] == dry["differences"]
    assert company_queries.revisions(limit=1)[0]["summary"] == "Earlier bread"
    _, said, _ = run("import", str(file))
    assert "Nothing is different." in said


@pytest.mark.covers("ORG-70")
@COMMITS
def test_the_first_company_is_made_at_a_terminal(file: Path) -> None:
    """As in the browser: from a template, with a founder's seat, once."""
    made = answer("create", "Harbour Bakery", "--template", "new", "--founder", "Rita Founder",
                  "--timezone", "Europe/Lisbon")  # fmt: skip
    assert made["epoch"] == epochs.current()
    document = epochs.active().document
    assert (document.name, document.timezone) == ("Harbour Bakery", "Europe/Lisbon")
    assert {"founder", "ceo", "engineer"} <= set(epochs.active().chart.seats)
    code, _, said = run("create", "Another")
    assert code != 0
    assert "already set up" in said


@pytest.mark.covers("ORG-36")
@COMMITS
def test_a_file_fills_an_empty_store_or_wins_at_every_start(file: Path) -> None:
    seeds = UpRequest("http://localhost", demo=True, seed=str(file))
    wins = UpRequest("http://localhost", demo=True, company=str(file))

    def start(request: UpRequest) -> str | None:
        return UP_HOOKS.prepare["document"](request)

    assert "epoch" in (start(seeds) or "")
    assert UP_HOOKS.prepare["demo"](seeds) is None, "the demo comes second"
    answer("import", str(file), "--summary", "Same")
    file.write_text(TWO_TEAMS.replace("Bread by six", "Bread by five"), encoding="utf-8")
    assert start(seeds) is None
    assert epochs.active().document.mission.startswith("Bread by six")
    assert "epoch" in (start(wins) or "")
    assert epochs.active().document.mission.startswith("Bread by five")
    epoch = epochs.current()
    assert start(wins) is None, "an unchanged file makes no new revision"
    assert epochs.current() == epoch
    file.write_text("name: [", encoding="utf-8")
    with pytest.raises(ServerProblem, match="company validate"):
        start(wins)
    with pytest.raises(ServerProblem, match="No such file"):
        start(UpRequest("http://localhost", demo=False, seed="", company="/nowhere/c.yaml"))
    with pytest.raises(CommandError, match="not allowed with"):
        call_command("up", "--seed-company", str(file), "--import-company", str(file))
