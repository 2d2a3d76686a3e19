"""Keeps a local model's control tokens away from people.

Servers that do not know a model's chat template pass `<|channel|>commentary<|message|>…` and
`<think>…</think>` through as text. Only endpoints of type `openai-compatible` are cleaned: the
official ones never leak them, and a text about such tokens must stay whole there.
"""

from __future__ import annotations

import re

_HEADER = re.compile(r"<\|(?:start|channel|constrain|recipient)\|>[^<\n]{0,80}(?=<\|)")
_TOKEN = re.compile(r"<\|[A-Za-z0-9_ /.-]{1,40}\|>")
_THINK = re.compile(r"\s*<think>(.*?)(?:</think>\s*|\Z)", re.DOTALL)
_LEAK, _LEAK_END = "<tool_call>", "</tool_call>"
_OPEN, _CLOSE = "<think>", "</think>"
_UNDECIDED = 200
_LONGEST_TOKEN = 44


def visible(text: str) -> str:
    """Returns the text without control tokens and the headers they frame."""
    if "<|" not in text:
        return text
    return _TOKEN.sub("", _HEADER.sub("", text))


def split_thinking(text: str) -> tuple[str, str]:
    """Returns (thinking, answer) of a text that opens with `<think>`, or only closes it."""
    match = _THINK.match(text)
    if match is not None:
        return match[1].strip(), text[match.end() :]
    thought, close, rest = text.partition(_CLOSE)
    if close and _OPEN not in thought and _CLOSE not in rest:
        # Some templates write the opening tag into the prompt.
        return thought.strip(), rest.lstrip()
    return "", text


def split_calls(text: str) -> tuple[str, list[str]]:
    """Returns the text before the `<tool_call>` blocks that end it, and what each of them holds."""
    held: list[str] = []
    end = len(text.rstrip())
    while text.endswith(_LEAK_END, 0, end):
        start = text.rfind(_LEAK, 0, end)
        block = text[start + len(_LEAK) : end - len(_LEAK_END)].strip() if start >= 0 else ""
        if not (block.startswith("{") and block.endswith("}")) or _LEAK_END in block:
            break
        held.insert(0, block)
        while start > 0 and text[start - 1].isspace():
            start -= 1
        end = start
    return (text[:end], held) if held else (text, [])


class LiveFilter:
    """The same for a text that comes in pieces: holds back what may become a control token."""

    def __init__(self) -> None:
        self._held = ""
        self._thinking: bool | None = None

    def feed(self, piece: str) -> tuple[str, str]:
        """Returns the (thinking, answer) that may be shown now."""
        self._held += piece
        thinking = self._take_thinking()
        return thinking, "" if self._thinking or self._thinking is None else self._take_answer()

    def finish(self) -> tuple[str, str]:
        """Returns what is left when the text has ended."""
        held, self._held = self._held, ""
        return (held, "") if self._thinking else ("", visible(split_calls(held)[0]))

    def _take_thinking(self) -> str:
        if self._thinking is None:
            start = self._held.lstrip()
            if start.startswith(_OPEN):
                self._thinking, self._held = True, start.removeprefix(_OPEN)
            elif not _OPEN.startswith(start):
                self._thinking = False
        if not self._thinking:
            return ""
        thought, close, rest = self._held.partition(_CLOSE)
        if close:
            self._thinking, self._held = False, rest.lstrip()
            return thought
        keep = _overlap(thought, _CLOSE)
        self._held = thought[len(thought) - keep :]
        return thought[: len(thought) - keep]

    def _take_answer(self) -> str:
        block = self._held.find(_LEAK)
        if block < 0:
            block = len(self._held) - _overlap(self._held, _LEAK)
        # From a leaked call on nothing is shown before the end tells whether it is one.
        rest, self._held = self._held[block:], self._held[:block]
        shown = self._take_visible()
        self._held += rest
        return shown

    def _take_visible(self) -> str:
        at = self._held.find("<|")
        if at < 0:
            at = len(self._held) - _overlap(self._held, "<|")
        elif len(self._held) - at > _UNDECIDED:
            # Long enough that a header would have closed; the tail may still open a new token.
            self._held = visible(self._held)
            late = self._held.rfind("<|", max(0, len(self._held) - _LONGEST_TOKEN))
            at = late if late >= 0 else len(self._held) - _overlap(self._held, "<|")
        shown, self._held = self._held[:at], self._held[at:]
        return shown


def _overlap(text: str, token: str) -> int:
    """Returns how many of the last characters of `text` may begin `token`."""
    for length in range(min(len(text), len(token) - 1), 0, -1):
        if text.endswith(token[:length]):
            return length
    return 0
