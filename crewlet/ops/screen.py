"""What a person sees of `up`: lines with the name of who speaks, in colour on a terminal."""

from __future__ import annotations

import sys
import threading
from typing import IO, TextIO

_COLOURS = {
    "up": "1;37",
    "web": "36",
    "worker": "32",
    "duty": "33",
    "beat": "35",
    "postgres": "34",
    "valkey": "31",
}
_WIDTH = max(map(len, _COLOURS))


class Screen:
    """Writes whole lines, one at a time, from any thread. A reader that left is no error."""

    def __init__(self, out: TextIO | None = None, *, colour: bool | None = None) -> None:
        self._out = out or sys.stdout
        self._colour = self._out.isatty() if colour is None else colour
        self._lock = threading.Lock()
        self._gone = False

    def say(self, line: str, who: str = "up") -> None:
        """Writes one line."""
        self._write(f"{self._prefix(who)} {line}\n")

    def loud(self, line: str) -> None:
        """Writes one line that a person should not miss."""
        self._write(f"{self._prefix('up')} {self._paint('1;31', '!! ' + line)}\n")

    def progress(self, line: str, *, last: bool) -> None:
        """Writes a line that the next progress line replaces; without a terminal only the last."""
        if self._out.isatty():
            self._write(f"\r\x1b[2K{self._prefix('up')} {line}" + ("\n" if last else ""))
        elif last:
            self.say(line)

    def follow(self, who: str, stream: IO[bytes]) -> threading.Thread:
        """Copies a child's output line by line until it ends; returns the copying thread."""
        thread = threading.Thread(
            target=self._copy, args=(who, stream), name=f"output-{who}", daemon=True
        )
        thread.start()
        return thread

    def _copy(self, who: str, stream: IO[bytes]) -> None:
        with stream:
            for raw in stream:
                self.say(raw.decode("utf-8", errors="replace").rstrip(), who)

    def _write(self, text: str) -> None:
        with self._lock:
            if self._gone:
                return
            try:
                self._out.write(text)
                self._out.flush()
            except (BrokenPipeError, ValueError):
                # The terminal or the pipe is gone; the company keeps running without a screen.
                self._gone = True

    def _prefix(self, who: str) -> str:
        return self._paint(_COLOURS.get(who, "37"), f"{who:<{_WIDTH}} │")

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour else text
