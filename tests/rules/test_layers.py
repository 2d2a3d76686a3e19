"""Down by import, up by event."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.rules.source import ROOT


def test_the_layers_hold() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [str(linter), "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (
        f"{done.stdout[-6000:]}{done.stderr[-2000:]}\n"
        "An app imports what stands above it. Turn it round: let the lower app offer a registry or "
        "a receiver, and register from the higher one."
    )
