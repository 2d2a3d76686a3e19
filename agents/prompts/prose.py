"""Prose is data: the texts of the prompts stand in `text/*.md`."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from string import Template

_FOLDER = Path(__file__).parent / "text"


@lru_cache(maxsize=64)
def _template(name: str) -> Template:
    return Template((_FOLDER / f"{name}.md").read_text(encoding="utf-8").strip())


def prose(text: str, /, **values: str) -> str:
    """Returns a text with its `$names` filled in; raises KeyError when one is not given."""
    return _template(text).substitute(values)
