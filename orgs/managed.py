"""Who may change the company document where it is kept elsewhere and brought here by a program.

`CREWLET_COMPANY_WRITERS` names credentials; every other one reads, checks the file it has by
`validate`, and reloads, but changes nothing, not even as a trial. The engine itself always may: it
acts for the file or the command that the operator started it with.
"""

from __future__ import annotations

from django.conf import settings

from crewlet.kernel.actors import Actor, ActorKind
from crewlet.kernel.errors import CrewletError, ErrorCode


def why_not(actor: Actor) -> str:
    """Returns why the actor's credential may not change the document; nothing when it may."""
    writers = settings.CREWLET.company_writers
    if not writers or actor.kind is ActorKind.ENGINE or actor.credential in writers:
        return ""
    return (
        "The company is changed through "
        f"{', '.join(sorted(writers))} alone here (CREWLET_COMPANY_WRITERS). Change it where it "
        "is kept."
    )


def require_writer(actor: Actor) -> None:
    """Raises `config_managed` for a credential that may not change the document."""
    reason = why_not(actor)
    if reason:
        raise CrewletError(reason, code=ErrorCode.CONFIG_MANAGED, reason="config_managed")
