"""The page of health: alarms, the parts of /health, the metrics and the reasons of /ready."""

from __future__ import annotations

import inspect

from crewlet.ops.checks import ALARMS, HEALTH_PARTS, Reason
from crewlet.ops.metrics import SERIES
from crewlet.ops.reference.markdown import code, codes, table


def body() -> str:
    """Gives a table for each kind of question that can be asked."""
    return "\n\n".join(
        (
            "## Alarms",
            table(
                ("kind", "active while"),
                [(code(kind), _first_line(ask)) for kind, ask in ALARMS.items()],
            ),
            "## Parts of `/health`",
            table(
                ("key", "says"),
                [(code(key), _first_line(ask)) for key, ask in HEALTH_PARTS.items()],
            ),
            "## Series of `/metrics`",
            table(
                ("series", "labels", "says"),
                [(code(name), codes(one.labels), one.words) for name, one in SERIES.items()],
            ),
            "## Reasons of `/ready`",
            "In the order in which they are looked for: "
            + codes(reason.value for reason in Reason)
            + ".",
        )
    )


def _first_line(ask: object) -> str:
    words = (inspect.getdoc(ask) or "").split("\n\n", 1)[0].removeprefix("Returns ")
    return words[:1].upper() + words[1:]
