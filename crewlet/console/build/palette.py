"""Every colour of the site, the floors they must keep, and the stylesheet made of them.

The table is the only place where a colour is written down; `static/css/palette.css` is its print.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from crewlet.console.build.colour import EYES, Oklch, contrast, difference

SURFACES = ("frame", "sheet", "card", "raised", "well")
STATES = ("work", "need", "stop", "done")
FILLS = tuple(f"{state}-fill" for state in STATES)
SERIES = ("data-1", "data-2", "data-3", "data-4")


def _pair(
    light: tuple[float, float, float], dark: tuple[float, float, float]
) -> tuple[Oklch, Oklch]:
    return Oklch(*light), Oklch(*dark)


PALETTE: dict[str, tuple[Oklch, Oklch]] = {
    # surfaces, from the window inwards
    "frame": _pair((0.957, 0.005, 80), (0.158, 0.006, 270)),
    "sheet": _pair((0.990, 0.002, 80), (0.190, 0.007, 270)),
    "card": _pair((1, 0, 0), (0.222, 0.008, 270)),
    "raised": _pair((1, 0, 0), (0.258, 0.010, 270)),
    "well": _pair((0.970, 0.004, 80), (0.168, 0.006, 270)),
    # text; ink-4 is decoration and never carries a word
    "ink-1": _pair((0.225, 0.012, 275), (0.945, 0.004, 270)),
    "ink-2": _pair((0.410, 0.012, 275), (0.790, 0.008, 270)),
    "ink-3": _pair((0.520, 0.011, 275), (0.690, 0.010, 270)),
    "ink-4": _pair((0.690, 0.008, 275), (0.500, 0.010, 270)),
    "line": _pair((0.905, 0.005, 80), (0.290, 0.009, 270)),
    "line-2": _pair((0.835, 0.006, 80), (0.370, 0.010, 270)),
    "control": _pair((0.615, 0.010, 275), (0.560, 0.012, 270)),
    # accent says "you are here"; the action itself is ink
    "accent": _pair((0.500, 0.200, 288), (0.580, 0.200, 290)),
    "accent-ink": _pair((0.470, 0.200, 288), (0.785, 0.110, 288)),
    "accent-soft": _pair((0.955, 0.020, 288), (0.290, 0.060, 288)),
    "on-accent": _pair((1, 0, 0), (1, 0, 0)),
    "action": _pair((0.250, 0.012, 275), (0.930, 0.004, 270)),
    "on-action": _pair((0.990, 0, 0), (0.200, 0.008, 270)),
    # the four states
    "work-fill": _pair((0.600, 0.160, 248), (0.710, 0.130, 248)),
    "work-ink": _pair((0.455, 0.145, 248), (0.800, 0.100, 248)),
    "work-soft": _pair((0.955, 0.022, 248), (0.262, 0.042, 248)),
    "need-fill": _pair((0.655, 0.140, 66), (0.800, 0.145, 66)),
    "need-ink": _pair((0.470, 0.105, 66), (0.835, 0.120, 66)),
    "need-soft": _pair((0.968, 0.030, 66), (0.270, 0.036, 66)),
    "stop-fill": _pair((0.555, 0.205, 25), (0.640, 0.190, 25)),
    "stop-ink": _pair((0.480, 0.180, 25), (0.775, 0.125, 25)),
    "stop-soft": _pair((0.962, 0.018, 25), (0.258, 0.042, 25)),
    "done-fill": _pair((0.500, 0.115, 158), (0.790, 0.150, 158)),
    "done-ink": _pair((0.440, 0.095, 158), (0.810, 0.130, 158)),
    "done-soft": _pair((0.957, 0.028, 158), (0.262, 0.038, 158)),
    # chart series, always with a legend; data-0 is "other"
    "data-1": _pair((0.480, 0.140, 258), (0.620, 0.140, 258)),
    "data-2": _pair((0.720, 0.130, 195), (0.830, 0.110, 190)),
    "data-3": _pair((0.620, 0.160, 345), (0.690, 0.165, 350)),
    "data-4": _pair((0.800, 0.130, 88), (0.890, 0.130, 98)),
    "data-0": _pair((0.700, 0.008, 275), (0.480, 0.010, 270)),
}
THEMES = ("light", "dark")


@dataclass(frozen=True, slots=True)
class Check:
    """One floor: what was measured, in which theme, and the least it may be."""

    theme: str
    what: str
    value: float
    least: float

    @property
    def holds(self) -> bool:
        """Whether the floor is kept."""
        return self.value >= self.least


def checks() -> Iterator[Check]:
    """Yields every floor with the value it has now."""
    for index, theme in enumerate(THEMES):
        colours = {name: pair[index] for name, pair in PALETTE.items()}
        yield from _texts(theme, colours)
        yield from _states(theme, colours)
        yield from _differences(theme, colours)


def css() -> str:
    """Returns the text of `palette.css`."""
    lines = ["/* Printed by `manage.py site palette`: edit crewlet/console/build/palette.py. */"]
    lines += ["@layer tokens {", "  :root {"]
    for name, (light, dark) in PALETTE.items():
        lines.append(f"    --{name}: light-dark({light.css()}, {dark.css()});")
    return "\n".join([*lines, "  }", "}", ""])


def _worst(colours: dict[str, Oklch], text: str, grounds: tuple[str, ...]) -> float:
    return min(contrast(colours[text], colours[ground]) for ground in grounds)


def _texts(theme: str, colours: dict[str, Oklch]) -> Iterator[Check]:
    softs = tuple(f"{state}-soft" for state in STATES)
    floors: list[tuple[str, tuple[str, ...], float]] = [
        ("ink-1", SURFACES + softs, 7),
        ("ink-2", SURFACES, 7),
        ("ink-3", SURFACES + softs, 4.5),
        ("ink-4", SURFACES, 2.4),
        ("control", SURFACES, 3),
        ("accent", SURFACES, 3),
        ("accent-ink", (*SURFACES, "accent-soft"), 4.5),
        ("on-accent", ("accent",), 4.5),
        ("on-action", ("action",), 4.5),
    ]
    for text, grounds, least in floors:
        yield Check(theme, f"{text} on {', '.join(grounds)}", _worst(colours, text, grounds), least)


def _states(theme: str, colours: dict[str, Oklch]) -> Iterator[Check]:
    for state in STATES:
        grounds = (*SURFACES, f"{state}-soft")
        value = _worst(colours, f"{state}-ink", grounds)
        yield Check(theme, f"{state}-ink on every surface and its soft", value, 4.5)
        value = _worst(colours, f"{state}-fill", ("sheet", "card", "raised"))
        yield Check(theme, f"{state}-fill as a mark", value, 3)


def _differences(theme: str, colours: dict[str, Oklch]) -> Iterator[Check]:
    for eye in EYES:
        rare = eye == "tritan"
        for title, names, least in (("states", FILLS, 10), ("series", SERIES, 9)):
            value = min(difference(colours[a], colours[b], eye) for a, b in combinations(names, 2))
            yield Check(theme, f"{title} apart, {eye}", value, 6 if rare else least)
        if rare:
            continue
        value = min(difference(colours["stop-fill"], colours[name], eye) for name in SERIES)
        yield Check(theme, f"stop from series, {eye}", value, 14 if eye == "normal" else 8)
        value = min(difference(colours["accent"], colours[name], eye) for name in FILLS)
        yield Check(theme, f"accent from states, {eye}", value, 10 if eye == "normal" else 8)
