"""A small MCP server over stdio that can misbehave: `python tool_server.py MODE`.

Modes, joined by commas: `noise` prints what is no message, `pages` lists in two pages, `circles`
repeats a cursor, `endless` never stops paging, `stubborn` ignores SIGTERM, `mute` never answers the
handshake, `refuses` dies at the start. Its tools do what their names say. Standard library only, so
that it starts in a moment.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

MODE = set(sys.argv[1].split(",")) if len(sys.argv) > 1 else set()
LONG = "reads_" + "very_" * 15 + "long_name"


def tool(name: str, about: str, **hints: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    made: dict[str, Any] = {"name": name, "description": about, "inputSchema": schema}
    if hints:
        made["annotations"] = hints
    return made


TOOLS = [
    tool("echo", "Says a text again.\nAnd no more.", readOnlyHint=True, destructiveHint="perhaps"),
    tool("write", "Writes a line to the file SEEN."),
    tool("wipe", "Empties the file SEEN.", readOnlyHint=False, destructiveHint=True),
    tool("fail", "Answers with an error result.", readOnlyHint=False),
    tool("picture", "Gives a large picture.", readOnlyHint=True),
    tool("die", "Ends the server in the middle of a call."),
    tool("hang", "Never answers."),
    tool("environment", "Names its variables.", readOnlyHint=True),
    tool(LONG, "Has a name that is too long.", readOnlyHint=True),
    tool("admin.list", "Has a name with a dot."),
    tool("admin/list", "Has a name with a slash."),
]
MANY = [tool(f"many_{n:03}", f"Does thing {n} of a great many things.") for n in range(150)]


def listed(cursor: str | None) -> dict[str, Any]:
    if "circles" in MODE:
        return {"tools": TOOLS[:3], "nextCursor": "eyJ"}
    if "endless" in MODE:
        n = int(cursor or 0)
        return {"tools": [tool(f"t{n}", "One.")], "nextCursor": str(n + 1)}
    if "many" in MODE:
        return {"tools": MANY}
    if "pages" in MODE and cursor is None:
        return {"tools": TOOLS[:2], "nextCursor": "two"}
    return {"tools": TOOLS[2:] if "pages" in MODE else TOOLS}


def called(name: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
    text = str(arguments.get("text", ""))
    seen = os.environ.get("SEEN", "")
    if name == "die":
        sys.stderr.write("the disk is full\n")
        sys.stderr.flush()
        os._exit(3)
    if name == "hang":
        return None
    if name == "fail":
        return {"content": [{"type": "text", "text": "channel_not_found"}], "isError": True}
    if name == "picture":
        data = "iVBORw0KGgo" * 104_227
        return {"content": [
            {"type": "text", "text": "Here it is."},
            {"type": "image", "mimeType": "image/png", "data": data},
            {"type": "text", "text": f"data:image/png;base64,{data}"},
        ]}  # fmt: skip
    if name == "environment":
        return {"content": [{"type": "text", "text": json.dumps(dict(os.environ))}]}
    if name in ("write", "wipe") and seen:
        with open(seen, "w" if name == "wipe" else "a", encoding="utf-8") as file:  # noqa: PTH123
            file.write(f"{text}\n" if name == "write" else "")
    return {"content": [{"type": "text", "text": f"{name}: {text}"}]}


def answer(message: dict[str, Any]) -> dict[str, Any] | None:
    method, params = message.get("method"), message.get("params") or {}
    if method == "initialize":
        if "mute" in MODE:
            return None
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "test", "version": "1"},
        }
    if method == "tools/list":
        return listed(params.get("cursor"))
    if method == "tools/call":
        return called(params["name"], params.get("arguments") or {})
    return {}


def main() -> None:
    if "refuses" in MODE:
        sys.exit(f"no licence for {os.environ.get('TOKEN', 'nobody')}")
    if "stubborn" in MODE:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "noise" in MODE:
        print("🖥️ Server mode: STDIO", flush=True)  # noqa: T201
        print('{"half": ', flush=True)  # noqa: T201
    for line in sys.stdin:
        message = json.loads(line)
        result = answer(message) if "id" in message else None
        if result is not None:
            body = {"jsonrpc": "2.0", "id": message["id"], "result": result}
            sys.stdout.write(json.dumps(body) + "\n")
            sys.stdout.flush()
    while "stubborn" in MODE:
        signal.pause()


if __name__ == "__main__":
    main()
