"""What the apps add to `manage.py up`. This module knows none of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from crewlet.kernel.registry import Registry


@dataclass(frozen=True)
class UpRequest:
    """What was asked of `up`: the address people will open, whether a demo may be made, and the
    file of a company: `seed` for an empty store, `company` for this start whatever runs."""

    base_url: str
    demo: bool
    seed: str = ""
    company: str = ""


# Runs after the migrations and before any process; returns a line to show, or None.
Preparation = Callable[[UpRequest], str | None]
# Returns the path of a sign-in link that works once ("/sign-in/…"), or None when it has none.
LinkMaker = Callable[[UpRequest], str | None]
# Ends the life of a node whose process is gone, so that nothing waits for its lease to expire.
IncarnationEnd = Callable[[str], None]


@dataclass(frozen=True)
class UpHooks:
    """The three places of `up` at which apps act; within one, in the order of registration."""

    prepare: Registry[Preparation] = field(default_factory=lambda: Registry("up: preparations"))
    link: Registry[LinkMaker] = field(default_factory=lambda: Registry("up: sign-in links"))
    end_incarnation: Registry[IncarnationEnd] = field(
        default_factory=lambda: Registry("up: ends of an incarnation")
    )


UP_HOOKS = UpHooks()
