"""What every template keeps, read from its text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from crewlet.console.build import sprite

ROOT = Path(settings.BASE_DIR)
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
SCRIPTS = sorted((ROOT / "static" / "js").glob("*.js"))
FORBIDDEN = {
    "an inline style": re.compile(r"\sstyle="),
    "a style element": re.compile(r"<style"),
    "an inline handler": re.compile(r"\son[a-z]+="),
    "an inline script": re.compile(r"<script(?![^>]*\ssrc=)"),
    "hx-on, which evaluates text": re.compile(r"hx-on"),
    "a js: value": re.compile(r"[\"']js:"),
    "a trigger filter": re.compile(r"hx-trigger=\"[^\"]*\["),
}
_TAG = re.compile(r"<[a-zA-Z][^>]*data-live=[^>]*>")
_ICON = re.compile(r'{% icon "([\w-]+)"')
_WORDS = re.compile(r">[^<{]*\b[Tt]asks?\b[^<{]*<")


def _named(paths: list[Path]) -> list[object]:
    return [pytest.param(path, id=path.relative_to(ROOT).as_posix()) for path in paths]


@pytest.mark.parametrize("path", _named(TEMPLATES))
def test_a_template_keeps_the_content_policy(path: Path) -> None:
    text = path.read_text("utf-8")
    found = [what for what, pattern in FORBIDDEN.items() if pattern.search(text)]
    assert not found, f"{path.name} holds {', '.join(found)}: move it to a stylesheet or a module."


@pytest.mark.parametrize("path", _named(TEMPLATES))
def test_a_live_region_has_an_id_and_a_source(path: Path) -> None:
    for tag in _TAG.findall(path.read_text("utf-8")):
        assert " id=" in tag, f"{path.name}: {tag} is live and has no id; morph pairs by id."
        assert "data-src=" in tag, f"{path.name}: {tag} is live and has no data-src."


@pytest.mark.parametrize("path", _named(TEMPLATES))
def test_every_icon_is_in_the_sprite(path: Path) -> None:
    known = sprite.names((ROOT / "static" / "icons" / "sprite.svg").read_text("utf-8"))
    missing = set(_ICON.findall(path.read_text("utf-8"))) - known
    assert not missing, f"{path.name} draws {missing}: add them to LUCIDE in build/sprite.py."


@pytest.mark.parametrize("path", _named(TEMPLATES))
def test_the_word_task_is_nowhere_on_screen(path: Path) -> None:
    assert not _WORDS.findall(path.read_text("utf-8")), f"{path.name}: on screen it is an item."


@pytest.mark.parametrize("path", _named(SCRIPTS))
def test_an_import_ends_with_a_semicolon(path: Path) -> None:
    # Django's manifest storage rewrites only such imports.
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("import "):
            assert line.endswith(";"), f"{path.name}: {line!r} would keep its unhashed name."


def _bindings() -> Iterator[tuple[str, bool]]:
    text = (ROOT / "static" / "js" / "keys.js").read_text("utf-8")
    for line in text.splitlines():
        found = re.search(r"keys: '([^']+)'.*run:", line)
        if found:
            yield found.group(1), "when:" in line


def test_no_press_has_two_bindings_at_once() -> None:
    always = [keys for keys, conditional in _bindings() if not conditional]
    assert len(always) == len(set(always))
    sometimes = {keys for keys, conditional in _bindings() if conditional}
    assert not sometimes & set(always)


def test_every_stylesheet_is_joined() -> None:
    folder = ROOT / "static" / "css"
    text = (folder / "src.css").read_text("utf-8")
    for path in folder.rglob("*.css"):
        name = path.relative_to(folder).as_posix()
        assert name in ("src.css", "app.css") or f'"{name}"' in text, f"{name} is not in src.css."
