"""`manage.py site <verb>`: prints the generated files of the site and checks the vendored ones."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from crewlet.console.build import palette, sprite, vendored


class Command(BaseCommand):
    """Writes palette.css or the sprite, or checks colours and vendored files."""

    help = "Build the generated files of the site, or check them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares the verbs."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        verbs.add_parser("palette", help="check every floor, then write static/css/palette.css")
        icons = verbs.add_parser("sprite", help="write static/icons/sprite.svg")
        icons.add_argument("--lucide", required=True, help="the icons folder of lucide-static")
        files = verbs.add_parser("vendor", help="check the vendored files against vendor.json")
        files.add_argument("--write", action="store_true", help="write the hashes as they are now")

    def handle(self, *args: Any, **options: Any) -> None:
        """Runs one verb; a broken floor or a changed file ends with exit code 1."""
        static = Path(settings.BASE_DIR) / "static"
        if options["verb"] == "palette":
            self._palette(static)
        elif options["verb"] == "sprite":
            own = (Path(sprite.__file__).parent / "own.svg").read_text("utf-8")
            text = sprite.build(Path(options["lucide"]), own)
            (static / "icons" / "sprite.svg").write_text(text, encoding="utf-8")
            self.stdout.write(f"{len(sprite.names(text))} symbols written.")
        else:
            self._vendor(static, write=options["write"])

    def _palette(self, static: Path) -> None:
        rows = list(palette.checks())
        broken = [row for row in rows if not row.holds]
        for row in broken:
            self.stderr.write(f"{row.theme}: {row.what} is {row.value:.2f}, least {row.least}")
        if broken:
            raise CommandError(f"{len(broken)} of {len(rows)} floors are broken; nothing written.")
        (static / "css" / "palette.css").write_text(palette.css(), encoding="utf-8")
        self.stdout.write(f"{len(rows)} floors hold; palette.css written.")

    def _vendor(self, static: Path, *, write: bool) -> None:
        if write:
            vendored.refresh(static)
        faults = vendored.faults(static)
        if faults:
            raise CommandError("\n".join(faults))
        self.stdout.write("Every vendored file is listed, licensed and unchanged.")
