"""`manage.py doctor` names what is wrong and what to do."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.core.management import call_command

from crewlet.environment import read
from crewlet.kernel import drain
from crewlet.ops import diagnosis, health
from crewlet.ops.diagnosis import Verdict

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def forget_the_last_look() -> None:
    health._last = health._Last()


def _told() -> dict[str, dict[str, str]]:
    out = io.StringIO()
    try:
        call_command("doctor", "--json", stdout=out)
    except SystemExit as ended:
        assert ended.code == 1
    return {check["name"]: check for check in json.loads(out.getvalue())["checks"]}


def test_a_running_install_is_fine() -> None:
    told = _told()
    for name in ("python", "sealing key", "redis", "postgres", "tables"):
        assert told[name]["verdict"] == "fine", told[name]


def test_a_lost_database_is_wrong_and_what_needs_it_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(health, "database_answers", lambda: False)
    told = _told()
    assert told["postgres"]["verdict"] == "wrong"
    assert "DATABASE_URL" in told["postgres"]["words"]
    assert "tables" not in told
    with pytest.raises(SystemExit, match="1"):
        call_command("doctor", stdout=io.StringIO())


def test_missing_tables_name_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnosis, "unapplied", lambda: 3)
    assert _told()["tables"]["words"] == "3 migrations are missing: run manage.py migrate"


def test_a_drain_is_told() -> None:
    drain.raise_mark("test")
    try:
        assert "being stopped" in _told()["company"]["words"]
    finally:
        drain.lower()


def test_a_key_that_others_may_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SECRET_KEY")
    data = {"CREWLET_DATA_DIR": str(tmp_path)}
    assert diagnosis._key(read(data)).verdict is Verdict.NOTE
    key = tmp_path / "secret.key"
    key.write_text("k", encoding="utf-8")
    key.chmod(0o644)
    assert "chmod 600" in diagnosis._key(read(data)).words
    key.chmod(0o600)
    assert diagnosis._key(read(data)).verdict is Verdict.FINE


def test_a_data_folder_that_is_a_file_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "var").touch()
    found = diagnosis._data_folder(read({"CREWLET_DATA_DIR": str(tmp_path / "var")}))
    assert found.verdict is Verdict.WRONG
    assert "CREWLET_DATA_DIR" in found.words
