"""The data folder of one install: writable, locked by one `up`, holding its sealing key."""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import socket
from pathlib import Path

from crewlet.ops.embedded.errors import ServerProblem

# What a fresh start throws away. The key and the logs stay: old sealed backups remain readable.
DATA = ("postgres", "files", "static", "css")


class Place:
    """One data folder. `lock()` first; every other method expects to hold the lock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock: int | None = None

    @property
    def logs(self) -> Path:
        """Where the servers' logs go."""
        return self.folder / "logs"

    def lock(self) -> None:
        """Takes the folder for this process, for as long as it lives.

        Raises ServerProblem when another `up` has it or the folder cannot be written. The lock dies
        with its holder, also by SIGKILL; children do not inherit it.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.logs.mkdir(exist_ok=True)
            self._lock = os.open(self.folder / "up.lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise ServerProblem(
                f"{self.folder} cannot be written ({error.strerror}). Give this account the "
                "folder, or set CREWLET_DATA_DIR to one it may write."
            ) from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(self._lock, 32, 0).decode(errors="replace").strip()
            raise ServerProblem(
                f"Crewlet already runs on {self.folder} (process {holder or 'unknown'}). "
                "Stop it first, or set CREWLET_DATA_DIR to another folder."
            ) from None
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, f"{os.getpid()}\n".encode(), 0)

    def unlock(self) -> None:
        """Gives the folder back."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def ensure_key(self) -> bool:
        """Makes the sealing key unless it is there; tells whether it was made. Mode 0600."""
        path = self.folder / "secret.key"
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            if path.stat().st_mode & 0o077:
                path.chmod(0o600)
            if path.read_text(encoding="utf-8").strip():
                return False
            raise ServerProblem(
                f"{path} is empty. Put the key back from a backup; without one, delete the file "
                "and enter the company's sealed values again."
            ) from None
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(secrets.token_urlsafe(48) + "\n")
        return True

    def has_data(self) -> bool:
        """Tells whether a database lies here."""
        return (self.folder / "postgres").exists()

    def clear(self) -> None:
        """Throws this install's data away."""
        for name in DATA:
            if (self.folder / name).exists():
                shutil.rmtree(self.folder / name)


def refuse_taken_port(host: str, port: int) -> None:
    """Raises ServerProblem when somebody listens on the port already."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise ServerProblem(
                f"Port {port} on {host} cannot be used ({error.strerror}). "
                f"Give another one: manage.py up --port {port + 1}"
            ) from None
