"""Joins `src.css` and what it imports into the one stylesheet that a page loads."""

from __future__ import annotations

import re
from pathlib import Path

_IMPORT = re.compile(r'@import "([^"]+)";\n?')


def sources(folder: Path) -> list[Path]:
    """Returns `src.css` and every file it imports, in order."""
    entry = folder / "src.css"
    names = _IMPORT.findall(entry.read_text(encoding="utf-8"))
    return [entry, *(folder / name for name in names)]


def join(folder: Path) -> str:
    """Returns the text of `app.css`; a missing import raises FileNotFoundError naming it."""
    text = (folder / "src.css").read_text(encoding="utf-8")
    return _IMPORT.sub(lambda found: _read(folder / found.group(1)), text)


def _read(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    return text if text.endswith("\n") else f"{text}\n"
