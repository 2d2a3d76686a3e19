"""Serves `css/app.css`: joined from its parts whenever one of them is newer, never committed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import BaseFinder
from django.contrib.staticfiles.storage import ManifestStaticFilesStorage
from django.core.files.storage import FileSystemStorage

from crewlet.console.build.stylesheet import join, sources

NAME = "css/app.css"


class HashedStaticFilesStorage(ManifestStaticFilesStorage):
    """Names files by their content, imports inside modules included."""

    support_js_module_import_aggregation = True


class JoinedCssFinder(BaseFinder):
    """Finds the joined stylesheet for the development server, whitenoise and collectstatic."""

    def __init__(self, app_names: Any = None, *args: Any, **kwargs: Any) -> None:
        self.parts = Path(settings.BASE_DIR) / "static" / "css"
        self.root = Path(settings.CREWLET.data_dir) / "joined"

    def check(self, **kwargs: Any) -> list[Any]:
        """Nothing can be configured wrongly."""
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:  # noqa: FBT001, FBT002
        """Returns the file's path; `find_all` (or its older name) asks for a list."""
        if path != NAME:
            return []
        built = str(self._built())
        return [built] if find_all or kwargs.get("all") else built

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterable[tuple[str, Any]]:
        """Yields the one file with its storage."""
        self._built()
        yield NAME, FileSystemStorage(location=str(self.root))

    def _built(self) -> Path:
        target = self.root / NAME
        newest = max(path.stat().st_mtime_ns for path in sources(self.parts))
        if not target.is_file() or target.stat().st_mtime_ns < newest:
            target.parent.mkdir(parents=True, exist_ok=True)
            # Another process may build the same file: it replaces, nobody reads half of it.
            fresh = target.with_suffix(f".{newest}.tmp")
            fresh.write_text(join(self.parts), encoding="utf-8")
            fresh.replace(target)
        return target
