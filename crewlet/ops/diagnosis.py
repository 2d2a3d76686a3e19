"""The checks of `doctor`: each looks at one thing and says what it found."""

from __future__ import annotations

import os
import stat
import sys
from dataclasses import dataclass
from enum import StrEnum

import redis
from django.conf import settings
from django.db import connection

from crewlet.environment import Env
from crewlet.kernel.redis import client
from crewlet.ops import health
from crewlet.ops.checks import Reason, active_alarms
from crewlet.ops.migrating import unapplied

OLDEST_POSTGRES = 160000
OLDEST_REDIS = 7


class Verdict(StrEnum):
    """FINE; NOTE: works, a person should know; WRONG: Crewlet cannot run like this."""

    FINE = "fine"
    NOTE = "note"
    WRONG = "wrong"


@dataclass(frozen=True)
class Check:
    """What one look found."""

    name: str
    verdict: Verdict
    words: str

    def as_json(self) -> dict[str, str]:
        """Returns the check as the command prints it under --json."""
        return {"name": self.name, "verdict": self.verdict, "words": self.words}


def examine() -> list[Check]:
    """Runs every check; those that need Postgres are left out while it does not answer."""
    env: Env = settings.CREWLET
    found = [_python(), _data_folder(env), _key(env), _redis(env)]
    postgres = _postgres(env)
    found.append(postgres)
    if postgres.verdict is not Verdict.WRONG:
        found += [_tables(), _company(), *_alarms()]
    return found


def _python() -> Check:
    version = sys.version.split()[0]
    if sys.version_info < (3, 11):  # noqa: UP036 - the doctor is what tells
        return Check("python", Verdict.WRONG, f"{version}; Crewlet needs 3.11 or later.")
    return Check("python", Verdict.FINE, version)


def _data_folder(env: Env) -> Check:
    folder = env.data_dir
    near = next(path for path in (folder, *folder.parents) if path.exists())
    if not near.is_dir() or not os.access(near, os.W_OK | os.X_OK):
        return Check(
            "data folder",
            Verdict.WRONG,
            f"{folder} cannot be written. Give this account the folder, or set CREWLET_DATA_DIR.",
        )
    return Check("data folder", Verdict.FINE, str(folder))


def _key(env: Env) -> Check:
    if os.environ.get("SECRET_KEY"):
        return Check("sealing key", Verdict.FINE, "from SECRET_KEY")
    path = env.secret_key_file
    if not env.secret_key:
        return Check(
            "sealing key",
            Verdict.NOTE if env.embedded_database else Verdict.WRONG,
            f"none yet. `manage.py up` makes {path}; elsewhere set SECRET_KEY.",
        )
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        return Check("sealing key", Verdict.NOTE, f"others may read {path}: chmod 600 {path}")
    return Check("sealing key", Verdict.FINE, str(path))


def _redis(env: Env) -> Check:
    where = "embedded" if env.embedded_redis else "REDIS_URL"
    try:
        version = str(client().info("server")["redis_version"])
    except (redis.ConnectionError, redis.TimeoutError) as error:
        return _absent("redis", where, str(error), embedded=env.embedded_redis)
    if int(version.split(".", maxsplit=1)[0]) < OLDEST_REDIS:
        return Check("redis", Verdict.WRONG, f"{version} at {where}; Crewlet needs 7 or later.")
    return Check("redis", Verdict.FINE, f"{version}, {where}")


def _postgres(env: Env) -> Check:
    where = "embedded" if env.embedded_database else "DATABASE_URL"
    if not health.database_answers():
        return _absent("postgres", where, "no connection", embedded=env.embedded_database)
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version_num')::int, version()")
        number, words = cursor.fetchone()
    if number < OLDEST_POSTGRES:
        return Check("postgres", Verdict.WRONG, f"{words}; Crewlet needs 16 or later.")
    return Check("postgres", Verdict.FINE, f"{number // 10000}.{number % 10000}, {where}")


def _absent(name: str, where: str, error: str, *, embedded: bool) -> Check:
    if embedded:
        return Check(name, Verdict.WRONG, "the embedded server is not running: start manage.py up")
    return Check(name, Verdict.WRONG, f"no answer at {where} ({error}). Is it running?")


def _tables() -> Check:
    missing = unapplied()
    if missing:
        return Check(
            "tables", Verdict.WRONG, f"{missing} migrations are missing: run manage.py migrate"
        )
    return Check("tables", Verdict.FINE, "up to date")


def _company() -> Check:
    seen = health.look(fresh=True)
    told = _COMPANY.get(seen.reason) if seen.reason else None
    if told:
        return Check("company", *told)
    return Check("company", Verdict.FINE, str(seen.body["status"]))


_COMPANY = {
    Reason.UNCONFIGURED: (Verdict.NOTE, "no document is active: apply one, or run manage.py up"),
    Reason.DRAINING: (Verdict.NOTE, "draining: it is being stopped right now"),
    Reason.STUCK: (Verdict.WRONG, "mail waits and nothing works on it: is a worker running?"),
}


def _alarms() -> list[Check]:
    return [
        Check(f"alarm {kind}", Verdict.NOTE, f"{finding.measurement}. {finding.remedy}")
        for kind, finding in active_alarms().items()
    ]
