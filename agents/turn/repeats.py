"""Finds a model that goes in circles, by the digests of its calls. Pure, and no model is asked.

A digest stands for a call with its arguments and its result. One that was never seen is progress
and starts the count again, so a loop of several calls (A, B, A, B, …) is found like one of a
single call. The same call twice in one answer counts once: the model has not seen its result yet.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

TIMES = 3
"""The same call with the same result so often is a circle."""


@dataclass(frozen=True)
class Repeats:
    """What a pass has called. `nudged` is the round after which it was warned, 0 for never."""

    seen: tuple[tuple[str, int, int], ...] = ()
    """Of each digest: how often it came since the last progress, and its newest round."""
    nudged: int = 0
    over: bool = False
    """Whether it went on in a circle after the warning."""

    def after(self, digest: str, round_: int) -> Repeats:
        """Counts a call of the `round_`-th answer (from 1)."""
        known = {key: (times, last) for key, times, last in self.seen}
        if digest not in known:
            fresh = tuple((key, 1, last) for key, (_, last) in known.items())
            return Repeats((*fresh, (digest, 1, round_)))
        times, last = known[digest]
        if last == round_:
            return self
        known[digest] = (times + 1, round_)
        counted = replace(self, seen=tuple((key, *count) for key, count in known.items()))
        if times + 1 < TIMES:
            return counted
        if not self.nudged:
            return replace(counted, nudged=round_)
        return replace(counted, over=self.over or self.nudged < round_)
