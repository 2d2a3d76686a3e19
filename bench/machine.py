"""What the figures were taken on, and what a process has used of it."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import django
import psycopg

_TICKS = os.sysconf("SC_CLK_TCK")


def description() -> dict[str, str]:
    """Returns cores, memory and versions; no name of the machine."""
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return {
        "cores": str(os.cpu_count()),
        "memory": f"{pages * size / 2**30:.0f} GiB",
        "system": platform.system(),
        "python": platform.python_version(),
        "django": django.get_version(),
        "psycopg": psycopg.__version__,
        "load": "{:.1f} {:.1f} {:.1f}".format(*os.getloadavg()),
    }


def cpu_seconds(pid: int) -> float:
    """Returns the CPU that a process and its threads have used. Resolution: one clock tick."""
    after_name = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / _TICKS


def resident_mb(pid: int) -> float:
    """Returns the memory that a process holds, in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
