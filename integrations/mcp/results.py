"""What a server answered, as a model may read it: text whole, everything else by its size. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from agents.tools.run_call import CallResult
from integrations.mcp.hiding import hide

_ENCODED: Final = re.compile(r"(?:[A-Za-z0-9+/]{60,}+(?:\r?\n)?+)++={0,2}")
_FILE_CHARS: Final = 4096
"""A run of base64 that long is somebody's file; words have spaces and code has punctuation."""


def result_of(answer: Mapping[str, Any], secrets: Iterable[str] = ()) -> CallResult:
    """Returns the result of a `tools/call`; the server's own error flag decides whether it is ok.

    Text blocks go through whole. A picture, a sound or any other bytes are named by kind and size
    and left out: a model cannot read them, and they would fill its context.
    """
    blocks = answer.get("content")
    parts = [_block(block) for block in blocks if isinstance(block, Mapping)] if isinstance(
        blocks, list
    ) else []  # fmt: skip
    text = "\n\n".join(part for part in parts if part)
    structured = answer.get("structuredContent")
    if structured is not None and not text:
        text = json.dumps(structured, ensure_ascii=False, indent=1)
    text = hide(_ENCODED.sub(_size_of, text), secrets)
    failed = answer.get("isError") is True
    if not text:
        text = "It failed and said nothing more." if failed else "Done; it returned no text."
    return CallResult(ok=not failed, text=text)


def _block(block: Mapping[str, Any]) -> str:
    kind = str(block.get("type", ""))
    if kind == "text":
        return str(block.get("text", ""))
    if kind in ("image", "audio"):
        return _left_out(kind, block.get("mimeType"), block.get("data"))
    if kind == "resource":
        inside = block.get("resource")
        inside = inside if isinstance(inside, Mapping) else {}
        where = str(inside.get("uri", ""))
        if "blob" in inside:
            return _left_out(f"file {where}", inside.get("mimeType"), inside.get("blob"))
        return f"{where}\n{inside.get('text', '')}"
    if kind == "resource_link":
        return f"{block.get('name', 'resource')}: {block.get('uri', '')}"
    return f"[a block of the unknown kind {kind!r} is left out]"


def _left_out(kind: str, mime: Any, data: Any) -> str:
    size = len(str(data or "")) * 3 // 4
    return f"[{kind}, {mime or 'of unknown type'}, about {size:,} bytes: not text, so left out]"


def _size_of(match: re.Match[str]) -> str:
    if len(match[0]) < _FILE_CHARS:
        return match[0]
    return f"[encoded data, about {len(match[0]) * 3 // 4:,} bytes: not text, so left out]"
