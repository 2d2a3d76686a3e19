"""What became of each fault, as a table."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from bench.figures import table
from bench.orgsuite.modes import MODES
from bench.orgsuite.scene import Fate, Mode, Stage


@dataclass(frozen=True, slots=True)
class Row:
    """One mode, with a reviewer who reads the record and with one who nods."""

    mode: Mode
    reviewed: Fate
    nodded: Fate

    @property
    def let_through(self) -> bool:
        """Whether the engine let something pass that the record alone shows."""
        return self.mode.found_by == "engine" and Fate.LEAKED in (self.reviewed, self.nodded)


def played(stage: Stage) -> list[Row]:
    """Plays every mode twice."""
    return [Row(mode, stage.play(mode, nods=False), stage.play(mode, nods=True)) for mode in MODES]


def show(rows: list[Row]) -> str:
    """Returns the table and its sums."""
    lines = [
        [
            row.mode.code,
            row.mode.name,
            row.mode.found_by,
            row.reviewed.value,
            row.nodded.value,
        ]
        for row in rows
    ]
    head = ["mode", "what the seat does", "found by", "with a reviewer", "without one"]
    sums = [
        f"{name}: " + ", ".join(f"{count[fate]} {fate.value}" for fate in Fate)
        for name, count in (
            ("with a reviewer", Counter(row.reviewed for row in rows)),
            ("without one", Counter(row.nodded for row in rows)),
        )
    ]
    through = [row.mode.code for row in rows if row.let_through]
    verdict = (
        f"the engine let through what its record shows: {', '.join(through)}"
        if through
        else "nothing that the engine's record shows was let through"
    )
    return "\n".join([table(head, lines), *sums, verdict])
