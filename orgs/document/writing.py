"""Writes a document as YAML that a person would have typed and the reader takes back."""

from __future__ import annotations

import re
from io import StringIO
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString

_WIDTH = 100


def to_yaml(data: Any) -> str:
    """Gives YAML text; reading it again gives equal data."""
    yaml = YAML(typ="rt", pure=True)
    yaml.width = _WIDTH
    yaml.allow_unicode = True
    yaml.indent(mapping=2, sequence=4, offset=2)
    out = StringIO()
    yaml.dump(_styled(data), out)
    return out.getvalue()


def _styled(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _styled(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_styled(inner) for inner in value]
    if isinstance(value, str):
        return _styled_text(value)
    return value


def _styled_text(text: str) -> Any:
    lines = text.split("\n")
    printable = all(line.isprintable() and line == line.rstrip() for line in lines)
    if len(lines) > 1 and printable and not text.startswith((" ", "\n")):
        return LiteralScalarString(text)
    # Words that another reader of YAML would take for a switch, a date or a number.
    plain = _PLAIN.fullmatch(text) is not None and text.lower() not in _SWITCHES
    return text if plain else DoubleQuotedScalarString(text)


_PLAIN = re.compile(r"[A-Za-z](?:[\w .,;/()'&-]*[\w.,;/()'&-])?")
_SWITCHES = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
