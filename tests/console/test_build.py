"""The generated and the vendored files of the site."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from django.conf import settings

from crewlet.console.build import palette, stylesheet, vendored
from crewlet.console.build.colour import Oklch, contrast, difference, hexadecimal
from crewlet.console.staticfiles import JoinedCssFinder

STATIC = Path(settings.BASE_DIR) / "static"
WHITE, BLACK = Oklch(1, 0, 0), Oklch(0, 0, 0)


@pytest.mark.covers("UI-21")
def test_every_floor_of_the_palette_holds() -> None:
    broken = [row for row in palette.checks() if not row.holds]
    assert not broken, "\n".join(f"{r.theme}: {r.what} {r.value:.2f} < {r.least}" for r in broken)
    assert len(list(palette.checks())) > 50


def test_a_palette_that_is_too_pale_breaks_its_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    pale = (Oklch(0.9, 0.01, 275), Oklch(0.3, 0.01, 270))
    monkeypatch.setitem(palette.PALETTE, "ink-3", pale)
    assert {row.theme for row in palette.checks() if not row.holds} == {"light", "dark"}


@pytest.mark.covers("UI-22")
def test_the_palette_on_disk_is_the_printed_one() -> None:
    printed = (STATIC / "css" / "palette.css").read_text("utf-8")
    assert printed == palette.css(), "Run `manage.py site palette`."


def test_the_colour_arithmetic_agrees_with_known_values() -> None:
    assert contrast(WHITE, BLACK) == pytest.approx(21, abs=0.01)
    assert hexadecimal(palette.PALETTE["work-fill"][0]) == "#0584da"
    assert hexadecimal(palette.PALETTE["accent"][1]) == "#7d5be6"
    assert difference(WHITE, WHITE) == 0
    assert difference(WHITE, BLACK) == pytest.approx(100, abs=0.1)


def test_red_and_green_come_closer_for_who_cannot_tell_them_apart() -> None:
    red, green = Oklch(0.6, 0.2, 25), Oklch(0.6, 0.16, 145)
    assert difference(red, green, "deutan") < difference(red, green) / 2


def test_vendored_files_are_listed_licensed_and_unchanged() -> None:
    assert vendored.faults(STATIC) == []


def test_a_changed_an_unlisted_and_an_unlicensed_file_are_named(tmp_path: Path) -> None:
    for folder in ("vendor", "fonts", "icons"):
        shutil.copytree(STATIC / folder, tmp_path / folder)
    (tmp_path / "vendor" / "htmx.min.js").write_text("changed")
    (tmp_path / "vendor" / "stray.js").write_text("")
    (tmp_path / "vendor" / "licences" / "geist.txt").unlink()
    faults = " ".join(vendored.faults(tmp_path))
    assert "htmx.min.js differs" in faults
    assert "stray.js is not listed" in faults
    assert "geist.txt is missing" in faults
    (tmp_path / "vendor" / "licences" / "geist.txt").write_text("text")
    (tmp_path / "vendor" / "stray.js").unlink()
    vendored.refresh(tmp_path)
    assert vendored.faults(tmp_path) == []
    json.loads((tmp_path / "vendor" / "vendor.json").read_text("utf-8"))


def test_the_joined_stylesheet_holds_every_part_and_no_import() -> None:
    text = stylesheet.join(STATIC / "css")
    assert "@import" not in text
    assert text.index("@layer reset, tokens") < text.index("@font-face") < text.index(".seat {")


def test_the_finder_builds_the_stylesheet_anew_when_a_part_is_newer(
    tmp_path: Path,
) -> None:
    finder = JoinedCssFinder()
    finder.parts, finder.root = tmp_path / "css", tmp_path / "out"
    finder.parts.mkdir()
    (finder.parts / "src.css").write_text('@import "one.css";\n')
    part = finder.parts / "one.css"
    part.write_text("a { color: red }")
    found = Path(finder.find("css/app.css"))
    assert "red" in found.read_text()
    part.write_text("a { color: blue }")
    later = found.stat().st_mtime + 5
    os.utime(part, (later, later))
    assert "blue" in Path(finder.find("css/app.css")).read_text()
    assert finder.find("css/other.css") == []
    assert [name for name, _ in finder.list(None)] == ["css/app.css"]
