"""What a log line holds, and what it must not."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from crewlet.environment import BASE_DIR

SPEAK = """
import logging, logging.config, sys
import structlog
from crewlet.ops.logs import logging_config
logging.config.dictConfig(logging_config(level="INFO", fmt=sys.argv[1]))
structlog.contextvars.bind_contextvars(turn="t-1")
logging.getLogger("a.library").warning("%s came %s", "mail", "late", extra={"seat": "kofi"})
structlog.get_logger("ours").info("seat claimed", epoch=3)
structlog.get_logger("ours").debug("not at this level")
key = "sk-very-" + "secret"
try:
    1 / 0
except ZeroDivisionError:
    structlog.get_logger("ours").exception("it broke")
"""


def _lines(fmt: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", SPEAK, fmt],
        cwd=BASE_DIR,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stderr.splitlines()


def test_json_lines_carry_context_and_every_caller_speaks_the_same_form() -> None:
    library, ours, broke = (json.loads(line) for line in _lines("json"))
    assert library["event"] == "mail came late"
    assert (library["level"], library["logger"]) == ("warning", "a.library")
    assert (library["turn"], library["seat"]) == ("t-1", "kofi")
    assert (ours["event"], ours["epoch"], ours["turn"]) == ("seat claimed", 3, "t-1")
    assert ours["timestamp"].endswith("Z")
    assert broke["exception"][0]["exc_type"] == "ZeroDivisionError"


def test_console_lines_are_readable_and_without_colour_codes_in_a_pipe() -> None:
    lines = _lines("console")
    assert "mail came late" in lines[0]
    assert "seat claimed" in lines[1]
    assert "epoch=3" in lines[1]
    assert any("ZeroDivisionError" in line for line in lines)
    assert not any("\x1b" in line for line in lines)


@pytest.mark.parametrize("fmt", ["json", "console"])
def test_a_traceback_shows_no_values_of_its_frames(fmt: str) -> None:
    text = "\n".join(_lines(fmt))
    assert "it broke" in text
    assert "sk-very-secret" not in text
