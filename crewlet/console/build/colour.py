"""Colour arithmetic in plain Python: OKLCH to sRGB, contrast, difference, colour blindness.

Sources: Björn Ottosson's OKLab matrices; WCAG 2.1 relative luminance; CIEDE2000 after Sharma,
Wu and Dalal (2005); red and green blindness after Viénot, Brettel and Mollon (1999), blue blindness
after Machado, Oliveira and Fernandes (2009), severity 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, cos, degrees, exp, hypot, pi, radians, sin, sqrt

Triple = tuple[float, float, float]

_DICHROMACY: dict[str, tuple[Triple, Triple, Triple]] = {
    "protan": ((0.11238, 0.88762, 0.0), (0.11238, 0.88762, 0.0), (0.00401, -0.00401, 1.0)),
    "deutan": ((0.29275, 0.70725, 0.0), (0.29275, 0.70725, 0.0), (-0.02234, 0.02234, 1.0)),
    "tritan": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
_SLACK = 0.0005
_LINEAR_BELOW = 0.0031308  # of sRGB's transfer curve
EYES = ("normal", *_DICHROMACY)


@dataclass(frozen=True, slots=True)
class Oklch:
    """A colour as it stands in the stylesheet: lightness 0 to 1, chroma, hue in degrees."""

    light: float
    chroma: float
    hue: float

    def css(self) -> str:
        """Returns the CSS function text."""
        return f"oklch({self.light:.3f} {self.chroma:.3f} {self.hue:g})"


def linear_rgb(colour: Oklch) -> Triple:
    """Returns linear sRGB, chroma lowered until the colour fits the screen."""
    low, high = 0.0, colour.chroma
    rgb = _unclipped(colour.light, colour.chroma, colour.hue)
    if not _fits(rgb):
        for _ in range(24):
            middle = (low + high) / 2
            rgb = _unclipped(colour.light, middle, colour.hue)
            low, high = (middle, high) if _fits(rgb) else (low, middle)
        rgb = _unclipped(colour.light, low, colour.hue)
    return _clip(rgb)


def hexadecimal(colour: Oklch) -> str:
    """Returns `#rrggbb`."""
    return "#" + "".join(f"{round(_encode(part) * 255):02x}" for part in linear_rgb(colour))


def contrast(one: Oklch, other: Oklch) -> float:
    """Returns the WCAG contrast ratio, 1 to 21."""
    bright, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def difference(one: Oklch, other: Oklch, eye: str = "normal") -> float:
    """Returns CIEDE2000 between two colours as `eye` (one of `EYES`) sees them."""
    return _ciede2000(_lab(_seen(one, eye)), _lab(_seen(other, eye)))


def _unclipped(light: float, chroma: float, hue: float) -> Triple:
    a, b = chroma * cos(radians(hue)), chroma * sin(radians(hue))
    long = (light + 0.3963377774 * a + 0.2158037573 * b) ** 3
    mid = (light - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (light - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * mid + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * mid - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * mid + 1.7076147010 * short,
    )


def _fits(rgb: Triple) -> bool:
    return all(-_SLACK <= part <= 1 + _SLACK for part in rgb)


def _clip(rgb: Triple) -> Triple:
    red, green, blue = (min(1.0, max(0.0, part)) for part in rgb)
    return red, green, blue


def _encode(part: float) -> float:
    return 12.92 * part if part <= _LINEAR_BELOW else 1.055 * part ** (1 / 2.4) - 0.055


def _luminance(colour: Oklch) -> float:
    red, green, blue = linear_rgb(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _seen(colour: Oklch, eye: str) -> Triple:
    rgb = linear_rgb(colour)
    if eye == "normal":
        return rgb
    red, green, blue = (
        sum(weight * part for weight, part in zip(row, rgb, strict=True))
        for row in _DICHROMACY[eye]
    )
    return _clip((red, green, blue))


def _lab(rgb: Triple) -> Triple:
    red, green, blue = rgb
    x = (0.4124564 * red + 0.3575761 * green + 0.1804375 * blue) / 0.95047
    y = 0.2126729 * red + 0.7151522 * green + 0.0721750 * blue
    z = (0.0193339 * red + 0.1191920 * green + 0.9503041 * blue) / 1.08883
    fx, fy, fz = (_lab_curve(part) for part in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def _lab_curve(part: float) -> float:
    return part ** (1 / 3) if part > 216 / 24389 else (24389 / 27 * part + 16) / 116


def _ciede2000(one: Triple, other: Triple) -> float:
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean7 = ((hypot(a1, b1) + hypot(a2, b2)) / 2) ** 7
    stretch = 1 + 0.5 * (1 - sqrt(mean7 / (mean7 + 25**7)))
    c1, c2 = hypot(a1 * stretch, b1), hypot(a2 * stretch, b2)
    h1 = degrees(atan2(b1, a1 * stretch)) % 360
    h2 = degrees(atan2(b2, a2 * stretch)) % 360
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    mean_h = (h1 + turn / 2) % 360 if c1 * c2 else h1 + h2
    d_light, d_chroma = l2 - l1, c2 - c1
    d_hue = 2 * sqrt(c1 * c2) * sin(radians(turn) / 2)
    mean_l, mean_c = (l1 + l2) / 2, (c1 + c2) / 2
    t = (
        1
        - 0.17 * cos(radians(mean_h - 30))
        + 0.24 * cos(radians(2 * mean_h))
        + 0.32 * cos(radians(3 * mean_h + 6))
        - 0.20 * cos(radians(4 * mean_h - 63))
    )
    s_light = 1 + 0.015 * (mean_l - 50) ** 2 / sqrt(20 + (mean_l - 50) ** 2)
    s_chroma, s_hue = 1 + 0.045 * mean_c, 1 + 0.015 * mean_c * t
    bend = 60 * exp(-(((mean_h - 275) / 25) ** 2)) * pi / 180
    rotate = -2 * sqrt(mean_c**7 / (mean_c**7 + 25**7)) * sin(bend)
    light, chroma, hue = d_light / s_light, d_chroma / s_chroma, d_hue / s_hue
    return sqrt(light**2 + chroma**2 + hue**2 + rotate * chroma * hue)
