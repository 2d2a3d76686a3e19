"""Secrets that are shown once: made here, kept elsewhere only as a digest."""

from __future__ import annotations

import hashlib
import secrets

TOKEN_MARK = "crw_"  # noqa: S105  # the visible beginning of every token that we make


def new_code() -> str:
    """Returns 256 random bits for a one-time link, safe in a path."""
    return secrets.token_urlsafe(32)


def new_token() -> str:
    """Returns a fresh bearer token; its beginning lets scanners know it."""
    return TOKEN_MARK + secrets.token_urlsafe(32)


def digest_of(code: str) -> str:
    """Returns what is stored of a code: a plain SHA-256, enough for 256 random bits."""
    return hashlib.sha256(code.encode()).hexdigest()


def bearer_of(header: str | None) -> str | None:
    """Returns the token of an `Authorization` header, empty for a bearer without one.

    None for no header and for another scheme: a proxy's Basic says nothing to us.
    """
    scheme, _, token = (header or "").strip().partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None
