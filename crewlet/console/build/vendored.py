"""What others wrote and we ship: every file is listed with its licence and keeps its hash."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

WATCHED = ("vendor", "fonts")
SUFFIXES = {".js", ".woff2"}


def faults(static: Path) -> list[str]:
    """Returns a sentence per file that changed, is missing, unlisted or without a licence."""
    listed: dict[str, str] = {}
    found: list[str] = []
    for package in _manifest(static)["packages"]:
        listed |= package["files"]
        if not (static / package["licence_file"]).is_file():
            found.append(f"{package['name']}: {package['licence_file']} is missing.")
    for name, digest in listed.items():
        path = static / name
        if not path.is_file():
            found.append(f"{name} is listed and missing.")
        elif sha384(path) != digest:
            found.append(f"{name} differs from its hash in vendor.json.")
    for folder in WATCHED:
        for path in sorted((static / folder).iterdir()):
            name = path.relative_to(static).as_posix()
            if path.suffix in SUFFIXES and name not in listed:
                found.append(f"{name} is not listed in vendor.json.")
    return found


def refresh(static: Path) -> None:
    """Writes the hashes of the files as they are into vendor.json."""
    manifest = _manifest(static)
    for package in manifest["packages"]:
        package["files"] = {name: sha384(static / name) for name in package["files"]}
    text = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
    (static / "vendor" / "vendor.json").write_text(text, encoding="utf-8")


def sha384(path: Path) -> str:
    """Returns the file's hash in the form of subresource integrity."""
    return "sha384-" + base64.b64encode(hashlib.sha384(path.read_bytes()).digest()).decode()


def _manifest(static: Path) -> dict[str, Any]:
    text = (static / "vendor" / "vendor.json").read_text(encoding="utf-8")
    manifest: dict[str, Any] = json.loads(text)
    return manifest
