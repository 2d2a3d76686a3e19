"""Grants, and authority rules that the apps above register by name."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Protocol

from crewlet.kernel.errors import Forbidden
from crewlet.kernel.registry import Registry


class Grant(StrEnum):
    """What a person or a token may do; each is given by name and never implied."""

    STATE_READ = "state:read"
    AUDIT_READ = "audit:read"
    CONFIG_READ = "config:read"
    SECRETS_READ = "secrets:read"
    WORK_WRITE = "work:write"
    KNOWLEDGE_WRITE = "knowledge:write"
    CONFIG_WRITE = "config:write"
    SECRETS_WRITE = "secrets:write"
    FLEET_OPERATE = "fleet:operate"
    PEOPLE_MANAGE = "people:manage"
    SANDBOX_RUN = "sandbox:run"


ALL_GRANTS = frozenset(Grant)


class Holder(Protocol):
    """Whoever holds grants."""

    @property
    def name(self) -> str: ...

    @property
    def grants(self) -> frozenset[Grant]: ...


Rule = Callable[[Any, Any, Any], None]
RULES: Registry[Rule] = Registry("authority rules")


def authority_rule(name: str) -> Callable[[Rule], Rule]:
    """Registers `(actor, args, target) -> None`, which raises `Forbidden` when it does not hold."""

    def register(rule: Rule) -> Rule:
        RULES.register(name, rule)
        return rule

    return register


def require(actor: Holder, grant: Grant) -> None:
    """Passes when the actor holds the grant; raises `Forbidden` naming it otherwise."""
    if grant in actor.grants:
        return
    raise Forbidden(
        f"{actor.name} lacks the grant {grant.value}. Ask someone who manages people to give it.",
        grants=[grant.value],
        reason="missing_grant",
    )
