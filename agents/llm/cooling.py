"""Which keys cool and until when, shared by all nodes through rows (TURN-52).

A cooling is never shortened: a peer that fails adds to it, one that succeeds ends only what has run
out. When it has run out, one call at a time tries the key until one works (PEER-10).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection

from agents.llm.base import ErrorKind, ProviderError
from agents.llm.settings import key_digest
from agents.models.providers import ProviderKey
from crewlet.kernel import clock

RATE_SECONDS: Final = 3600.0
AUTH_SECONDS: Final = 300.0
MOST_DOUBLINGS: Final = 6
LONGEST_SECONDS: Final = 7 * 86_400.0
COOLS: Final = (ErrorKind.RATE_LIMIT, ErrorKind.AUTH)

Known = dict[tuple[str, str], "Cooled"]


@dataclass(frozen=True, slots=True)
class Rules:
    """How long an entry's keys cool where the vendor does not say."""

    rate_seconds: float = RATE_SECONDS
    auth_seconds: float = AUTH_SECONDS

    @classmethod
    def of(cls, entry: Any) -> Rules:
        """Returns the rules of an entry of `providers.llm`."""
        stated = getattr(entry, "cooldowns", None)
        return cls(
            float(getattr(stated, "rate_limit_seconds", None) or RATE_SECONDS),
            float(getattr(stated, "auth_seconds", None) or AUTH_SECONDS),
        )


@dataclass(frozen=True, slots=True)
class Cooled:
    """A key that failed and has not worked since."""

    until: datetime
    reason: str
    probe_until: datetime | None = None
    last_error: str = ""

    def free_at(self) -> datetime:
        """When the key may be asked: after the cooling, and after a probe that runs."""
        return max(self.until, self.probe_until) if self.probe_until else self.until


def digest(api_key: str) -> str:
    """Returns the twelve hex digits by which a key is shown."""
    return key_digest(api_key)


def read(providers: Iterable[str]) -> Known:
    """Returns the keys of some entries that have failed and not worked since."""
    rows = ProviderKey.objects.filter(provider__in=list(providers)).exclude(reason="")
    return {
        (row.provider, row.digest): Cooled(
            row.cooled_until, row.reason, row.probe_until, row.last_error
        )
        for row in rows
    }


_COOL = """
INSERT INTO agents_providerkey AS k
    (provider, digest, cooled_until, reason, consecutive_auth, last_error, failed_at)
VALUES (%(provider)s, %(digest)s, %(now)s + make_interval(secs => %(first)s), %(reason)s,
        %(auth)s, %(error)s, %(now)s)
ON CONFLICT (provider, digest) DO UPDATE SET
    -- A call that was under way when the key began to cool is no further failure.
    consecutive_auth = CASE WHEN %(auth)s = 0 OR k.cooled_until > %(now)s
        THEN k.consecutive_auth ELSE k.consecutive_auth + 1 END,
    cooled_until = CASE WHEN %(auth)s = 1 AND k.cooled_until > %(now)s AND NOT %(stated)s
        THEN k.cooled_until
        ELSE GREATEST(k.cooled_until, %(now)s + make_interval(secs => CASE
            WHEN %(stated)s OR %(auth)s = 0 THEN %(first)s
            ELSE %(first)s * 2 ^ LEAST(k.consecutive_auth, %(doublings)s) END)) END,
    reason = %(reason)s, last_error = %(error)s, failed_at = %(now)s, probe_until = NULL
RETURNING cooled_until, reason, probe_until, last_error
"""


def cool(provider: str, key: str, error: ProviderError, rules: Rules) -> Cooled:
    """Leaves a key alone for as long as the vendor says, else as the rules do."""
    auth = error.kind is ErrorKind.AUTH
    stated = error.retry_after is not None
    seconds = rules.auth_seconds if auth else rules.rate_seconds
    if error.retry_after is not None:
        seconds = max(1.0, min(LONGEST_SECONDS, error.retry_after))
    values: dict[str, Any] = {
        "provider": provider,
        "digest": key,
        "now": clock.now(),
        "first": seconds,
        "reason": error.kind.value,
        "auth": int(auth),
        "stated": stated,
        "error": error.message[:500],
        "doublings": MOST_DOUBLINGS,
    }
    with connection.cursor() as cursor:
        cursor.execute(_COOL, values)
        row = cursor.fetchone()
    return Cooled(*row)


def take_probe(provider: str, key: str, seconds: float) -> bool:
    """Whether the caller is the one that may try a key whose cooling has run out."""
    now = clock.now()
    rows = ProviderKey.objects.filter(provider=provider, digest=key, cooled_until__lte=now)
    free = rows.filter(probe_until__isnull=True) | rows.filter(probe_until__lte=now)
    return free.update(probe_until=now + timedelta(seconds=seconds)) == 1


def drop_probe(provider: str, key: str) -> None:
    """Lets the next call try the key: this one brought neither an answer nor a verdict."""
    ProviderKey.objects.filter(provider=provider, digest=key).update(probe_until=None)


def worked(provider: str, key: str) -> None:
    """Forgets the failures of a key that answered, unless a peer found it cooling meanwhile."""
    ProviderKey.objects.filter(provider=provider, digest=key, cooled_until__lte=clock.now()).update(
        reason="", consecutive_auth=0, probe_until=None, last_error=""
    )
