"""The servers that pip installed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from crewlet.ops.embedded import account as accounts
from crewlet.ops.embedded import postgres as postgres_module
from crewlet.ops.embedded.account import private_folder, server_account
from crewlet.ops.embedded.errors import ServerProblem
from crewlet.ops.embedded.postgres import Postgres
from crewlet.ops.embedded.valkey import Valkey
from crewlet.ops.embedded.valkey import stop as stop_valkey


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Postgres]:
    made = Postgres(
        tmp_path / "postgres", tmp_path / "run", tmp_path / "postgres.log", durable=False
    )
    yield made


def test_postgres_comes_up_keeps_rows_and_stops_while_a_client_is_connected(
    server: Postgres, said: list[str]
) -> None:
    server.prepare(said.append)
    process = server.start()
    try:
        server.create_database()
        server.create_database()
        client = psycopg.connect(server.url, autocommit=True)
        client.execute("CREATE TABLE kept AS SELECT 7 AS n")
        assert postgres_module.stop(process) == 0
        process = server.start()
        with psycopg.connect(server.url) as again:
            assert again.execute("SELECT n FROM kept").fetchone() == (7,)
        with pytest.raises(psycopg.OperationalError):
            client.execute("SELECT 1")
        client.close()
    finally:
        postgres_module.stop(process)


def test_postgres_listens_on_its_socket_only(server: Postgres, said: list[str]) -> None:
    argv = list(server.command().argv)
    assert "listen_addresses=" in argv
    assert "unix_socket_permissions=0700" in argv
    server.prepare(said.append)
    assert stat.S_IMODE(server.sockets.stat().st_mode) == 0o700
    assert stat.S_IMODE(server.data.stat().st_mode) == 0o700


def test_data_of_another_version_is_refused_in_words(server: Postgres, said: list[str]) -> None:
    server.data.mkdir(parents=True)
    (server.data / "PG_VERSION").write_text("99\n", encoding="ascii")
    with pytest.raises(ServerProblem, match=r"written by Postgres 99.*update Crewlet"):
        server.prepare(said.append)


def test_a_server_that_cannot_start_shows_the_end_of_its_log(
    server: Postgres, said: list[str]
) -> None:
    server.prepare(said.append)
    (server.data / "postgresql.conf").write_text("no_such_setting = 1\n", encoding="utf-8")
    with pytest.raises(ServerProblem, match="no_such_setting"):
        server.start()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root needs an account for Postgres")
def test_root_opens_the_way_to_the_data_and_says_so(tmp_path: Path, said: list[str]) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    data = closed / "postgres"
    data.mkdir()
    accounts.open_the_way([data], server_account(), said.append)
    assert stat.S_IMODE(closed.stat().st_mode) == 0o701
    assert any(str(closed) in line for line in said)
    before = len(said)
    accounts.open_the_way([data], server_account(), said.append)
    assert len(said) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a folder away")
def test_a_socket_folder_of_a_stranger_is_refused(tmp_path: Path) -> None:
    taken = tmp_path / "run"
    taken.mkdir()
    os.chown(taken, 65534, 65534)
    with pytest.raises(ServerProblem, match="belongs to somebody else"):
        private_folder(taken, server_account())


def test_valkey_answers_on_its_socket_and_ends(tmp_path: Path, said: list[str]) -> None:
    server = Valkey(tmp_path / "run", tmp_path / "valkey.log")
    server.prepare(said.append)
    assert not server.answers()
    process = server.start()
    try:
        assert server.answers()
    finally:
        assert stop_valkey(process) == 0
    assert not server.answers()
