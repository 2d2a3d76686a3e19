"""Slows down guessing: so many tries per source in a quarter of an hour, whoever they aim at.

The tally is keyed by where a try comes from and never by the login typed: a limit per login would
tell which logins exist and would let anybody lock a person out. What was typed is not stored.
"""

from __future__ import annotations

from datetime import timedelta
from ipaddress import IPv6Address, ip_address, ip_network

from django.db import connection
from django.http import HttpRequest

from crewlet.kernel import clock
from crewlet.kernel.errors import CrewletError, ErrorCode

TRIES = 10
WINDOW = timedelta(minutes=15)

_COUNT = """
INSERT INTO orgs_signintally (source, minute, tries) VALUES (%s, %s, 1)
ON CONFLICT (source, minute) DO UPDATE SET tries = orgs_signintally.tries + 1
"""
_SUM = "SELECT coalesce(sum(tries), 0) FROM orgs_signintally WHERE source = %s AND minute > %s"


def source_of(request: HttpRequest) -> str:
    """Returns where a request comes from: an address, or the /64 network of an IPv6 one."""
    return source_of_address(str(request.META.get("REMOTE_ADDR", "")))


def source_of_address(text: str) -> str:
    """Returns the source that an address counts for; one host owns a whole IPv6 /64."""
    try:
        address = ip_address(text)
    except ValueError:
        return text[:64] or "local"
    if not isinstance(address, IPv6Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ip_network(f"{address}/64", strict=False))


def count_try(source: str) -> None:
    """Counts one try; raises the throttled error when the source has had enough.

    The count is committed before the proof is looked at, so that tries side by side cannot all
    pass the check before one of them is counted.
    """
    now = clock.now()
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, (source, now.replace(second=0, microsecond=0)))
        cursor.execute(_SUM, (source, now - WINDOW))
        (tries,) = cursor.fetchone()
    if tries > TRIES:
        minutes = int(WINDOW.total_seconds() // 60)
        raise CrewletError(
            f"Too many sign-in tries from here. Wait {minutes} minutes and try again.",
            code=ErrorCode.THROTTLED,
            retry_after=int(WINDOW.total_seconds()),
        )


def forget(source: str) -> None:
    """Clears the tally of a source that has just proved who it is."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM orgs_signintally WHERE source = %s", (source,))
