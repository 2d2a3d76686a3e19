"""Settings under the environments that occur."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from django.conf import settings
from django.db import connection

from crewlet.environment import BASE_DIR

PRINT = """
import json
from crewlet import settings as s
d = s.DATABASES["default"]
print(json.dumps({
    "name": d["NAME"], "host": d["HOST"], "user": d["USER"], "password": d["PASSWORD"],
    "options": d["OPTIONS"]["options"], "sslmode": d["OPTIONS"].get("sslmode"),
    "pool": d["OPTIONS"]["pool"]["max_size"], "age": d["CONN_MAX_AGE"],
    "checks": d["CONN_HEALTH_CHECKS"], "secure": s.SESSION_COOKIE_SECURE,
    "storage": s.STORAGES["staticfiles"]["BACKEND"], "key": s.SECRET_KEY,
}))
"""


def _settings(data: Path, **environment: str) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-c", PRINT],
        cwd=BASE_DIR,
        env={"PATH": os.environ["PATH"], "CREWLET_DATA_DIR": str(data), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_settings_read_with_an_empty_environment(tmp_path: Path) -> None:
    found = _settings(tmp_path)
    assert found["name"] == "crewlet"
    assert found["host"] == str(tmp_path / "run")
    assert found["key"] == ""
    assert found["age"] == 0
    assert found["checks"] is True
    assert found["options"] == "-c idle_in_transaction_session_timeout=11250"
    assert found["secure"] is False


def test_a_given_database_keeps_every_parameter_of_its_address(tmp_path: Path) -> None:
    found = _settings(
        tmp_path,
        DATABASE_URL="postgresql://ann:p%40ss@db.example:5433/crew?sslmode=require",
        CREWLET_LEASE_TTL="2",
        CREWLET_DB_POOL="7",
        CREWLET_PUBLIC_URL="https://crew.example",
        CREWLET_MANIFEST_STATIC="1",
    )
    assert (found["name"], found["host"]) == ("crew", "db.example")
    assert (found["user"], found["password"]) == ("ann", "p@ss")
    assert found["sslmode"] == "require"
    assert found["pool"] == 7
    assert found["options"] == "-c idle_in_transaction_session_timeout=500"
    assert found["secure"] is True
    assert "Manifest" in str(found["storage"]) or "Hashed" in str(found["storage"])


def test_a_bad_variable_is_one_line_and_exit_code_two(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "doctor"],
        cwd=BASE_DIR,
        env={
            "PATH": os.environ["PATH"],
            "CREWLET_DATA_DIR": str(tmp_path),
            "CREWLET_LEASE_TTL": "soon",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == "CREWLET_LEASE_TTL is 'soon'; give a number, such as 45.\n"


def test_the_policy_lets_nothing_in_from_elsewhere() -> None:
    directives = settings.CONTENT_SECURITY_POLICY["DIRECTIVES"]
    assert directives["default-src"] == ["'none'"]
    assert directives["script-src"] == directives["style-src"] == ["'self'"]
    assert not any("unsafe" in source for sources in directives.values() for source in sources)


def test_the_pool_is_bounded() -> None:
    assert connection.settings_dict["OPTIONS"]["pool"]["max_size"] == settings.CREWLET.pool_size
