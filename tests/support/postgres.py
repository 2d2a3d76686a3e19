"""The Postgres of the tests: one server a session, one migrated template, one clone a worker."""

from __future__ import annotations

import importlib
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql

from crewlet.environment import embedded_database_url
from crewlet.ops.embedded import process as processes
from crewlet.ops.embedded.postgres import Postgres

# Taken while the template is made or copied: copying needs a template nobody is connected to.
TEMPLATE_LOCK = 74_120


def start(folder: Path) -> subprocess.Popen[bytes]:
    """Starts a server whose data dies with `folder`; nothing is synced to disk."""
    server = Postgres(folder / "postgres", sockets(folder), folder / "postgres.log", durable=False)
    server.prepare(lambda _line: None)
    return server.start()


def end(server: subprocess.Popen[bytes]) -> None:
    """Ends a server at once; there is nothing to save."""
    processes.end(server, signal.SIGINT, seconds=5)


def sockets(folder: Path) -> Path:
    """Returns the folder of both servers' sockets."""
    return folder / "run"


def database_name(worker: str) -> str:
    """Returns the database of one test process."""
    return f"crewlet_{worker}"


def url(folder: Path, database: str) -> str:
    """Returns the URL of `database` on the session's server."""
    return embedded_database_url(sockets(folder)).replace("/crewlet?", f"/{database}?")


def template_name(*, migrations: bool) -> str:
    """Returns the template's name; tables made without migrations are another template."""
    return "crewlet_migrated" if migrations else "crewlet_synced"


@contextmanager
def template_lock(folder: Path) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """Holds the session-wide lock over the template; yields the maintenance connection."""
    with psycopg.connect(
        host=str(sockets(folder)), user="postgres", dbname="postgres", autocommit=True
    ) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", [TEMPLATE_LOCK])
        yield connection


def exists(connection: psycopg.Connection[tuple[object, ...]], database: str) -> bool:
    """Tells whether `database` is there."""
    found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database])
    return found.fetchone() is not None


def create(
    connection: psycopg.Connection[tuple[object, ...]], database: str, template: str = "template1"
) -> None:
    """Creates `database` anew as a copy of `template`."""
    connection.execute(
        sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(database))
    )
    connection.execute(
        sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy").format(
            sql.Identifier(database), sql.Identifier(template)
        )
    )


def guard_statements() -> list[str]:
    """Returns the SQL guards of every app, in app order: `<app>.models.guards.GUARDS`.

    Migrations carry the same statements; only a database made without migrations needs these.
    """
    from django.apps import apps

    statements: list[str] = []
    for config in apps.get_app_configs():
        path = Path(config.path) / "models" / "guards.py"
        if path.exists():
            module = importlib.import_module(f"{config.name}.models.guards")
            statements.extend(module.GUARDS)
    return statements


def emptying(tables: Sequence[str]) -> list[str]:
    """Returns the statements that empty tables, in place of one TRUNCATE of them all.

    A test leaves rows in a few tables; to truncate the other sixty costs fifteen times what it
    costs to look into them. The locks wait, as TRUNCATE does, for whoever is still writing.
    """
    if not tables:
        return []
    names = ", ".join(f'"{table}"' for table in tables)
    texts = ", ".join(f"'{table}'" for table in tables)
    return [
        f"LOCK TABLE {names} IN ACCESS EXCLUSIVE MODE",
        # Neither foreign keys nor the guards of history stand in the way, as with TRUNCATE.
        "SET LOCAL session_replication_role = replica",
        f"""DO $$ DECLARE name text; found boolean; BEGIN
              FOREACH name IN ARRAY ARRAY[{texts}] LOOP
                EXECUTE format('SELECT EXISTS (SELECT FROM %I)', name) INTO found;
                IF found THEN EXECUTE format('DELETE FROM %I', name); END IF;
              END LOOP;
            END $$""",
    ]
