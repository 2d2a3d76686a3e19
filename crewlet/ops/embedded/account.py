"""Whose account the servers run under, and which folders that account must be able to pass."""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

from crewlet.ops.embedded.errors import ServerProblem

ACCOUNT = "embedded_postgres"
Say = Callable[[str], None]


def server_account() -> pwd.struct_passwd | None:
    """Returns the account Postgres runs under, or None for the caller's own.

    Postgres refuses to run as root, so root gets a system account, created when it is missing.
    """
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam(ACCOUNT)
    except KeyError:
        return _create_account()


def _create_account() -> pwd.struct_passwd:
    useradd = shutil.which("useradd") or shutil.which("useradd", path="/usr/sbin:/sbin")
    if useradd is None:
        raise ServerProblem(
            f"Postgres does not run as root, and there is no useradd to create the account "
            f"{ACCOUNT}. Run Crewlet as an ordinary user, or set DATABASE_URL."
        )
    done = subprocess.run(
        [useradd, "--system", "--shell", "/usr/sbin/nologin", ACCOUNT],
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        # Somebody else may have created it at the same moment; only its presence counts.
        return pwd.getpwnam(ACCOUNT)
    except KeyError:
        raise ServerProblem(
            f"The account {ACCOUNT} could not be created: {done.stderr.strip()} "
            "Run Crewlet as an ordinary user, or set DATABASE_URL."
        ) from None


def open_the_way(paths: Iterable[Path], account: pwd.struct_passwd | None, say: Say) -> None:
    """Lets `account` pass every parent of `paths`: adds o+x, never o+r, and says each change."""
    if account is None:
        return
    for path in paths:
        for folder in reversed(path.absolute().parents):
            if _may_pass(folder, account):
                continue
            mode = stat.S_IMODE(folder.stat().st_mode)
            say(f"chmod o+x {folder}: the account {ACCOUNT} must pass it to reach {path}")
            folder.chmod(mode | stat.S_IXOTH)


def _may_pass(folder: Path, account: pwd.struct_passwd) -> bool:
    found = folder.stat()
    if found.st_uid == account.pw_uid:
        return bool(found.st_mode & stat.S_IXUSR)
    if found.st_gid == account.pw_gid:
        return bool(found.st_mode & stat.S_IXGRP)
    return bool(found.st_mode & stat.S_IXOTH)


def private_folder(path: Path, account: pwd.struct_passwd | None) -> None:
    """Makes `path` a 0700 folder of the server's account; refuses one that belongs to a stranger.

    The socket folder may lie under the system's temporary folder, where anybody may have made it
    first: whoever owns it could answer in the server's place.
    """
    owner = account.pw_uid if account else os.geteuid()
    group = account.pw_gid if account else -1
    try:
        path.mkdir(parents=True, mode=0o700, exist_ok=True)
        found = path.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid not in {owner, os.geteuid()}:
            raise ServerProblem(
                f"{path} belongs to somebody else. Remove it, or set CREWLET_DATA_DIR elsewhere."
            )
        if account is not None:
            os.chown(path, owner, group)
        path.chmod(0o700)
    except PermissionError as error:
        raise ServerProblem(
            f"No permission to write {path} ({error.strerror}). "
            "Give this account the folder, or set CREWLET_DATA_DIR to one it may write."
        ) from None
