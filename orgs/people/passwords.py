"""Passwords: argon2id, at least twelve characters, and not one that everybody tries first."""

from __future__ import annotations

import os
import re
from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from crewlet.kernel.errors import Invalid

SHORTEST = 12
LONGEST = 1024
# So few different, or so few uncommon, letters are a common password in disguise.
_FEW = 4
_OWN_WORD = 3

# 64 MiB, 3 passes, 1 lane (RFC 9106, second recommended option, narrowed to one lane).
_hasher = PasswordHasher(time_cost=3, memory_cost=64 * 1024, parallelism=1)
# Each running hash holds 64 MiB and a core: more at once would let strangers exhaust the node.
_slots = BoundedSemaphore(max(1, os.cpu_count() or 1))

# A password is refused when nothing but these families is left of it.
_FAMILIES = (
    "password", "passwort", "passphrase", "passw0rd", "p455w0rd", "letmein", "welcome", "changeme",
    "iloveyou", "sunshine", "princess", "football", "baseball", "superman", "batman", "dragon",
    "monkey", "shadow", "master", "secret", "login", "admin", "administrator", "root", "user",
    "guest", "test", "default", "crewlet", "company", "qwertyuiop", "qwerty", "qwertz", "azerty",
    "asdfghjkl", "asdf", "zxcvbnm", "zxcv", "1q2w3e4r5t", "1q2w3e4r", "1q2w3e", "qazwsx", "abcdef",
    "abc", "1234567890", "0987654321", "123456789", "12345678", "1234567", "123456", "12345",
    "1234", "123", "hunter2", "trustno1", "whatever", "correcthorsebatterystaple",
)  # fmt: skip
_LEET = str.maketrans(
    {"0": "o", "1": "l", "3": "e", "4": "a", "5": "s", "7": "t", "@": "a", "$": "s"}
)


def encode(password: str, *, login: str = "", name: str = "") -> str:
    """Returns the argon2id hash of a password; raises `Invalid` with the rule it breaks."""
    check(password, login=login, name=name)
    with _slots:
        return _hasher.hash(password)


def check(password: str, *, login: str = "", name: str = "") -> None:
    """Passes for a password that may be used; raises `Invalid` and never repeats it."""
    if len(password) < SHORTEST:
        raise Invalid(f"A password needs at least {SHORTEST} characters.", field="password")
    if len(password) > LONGEST:
        raise Invalid(f"A password has at most {LONGEST} characters.", field="password")
    own = [
        word
        for word in re.split(r"[^a-z0-9]+", f"{login} {name}".lower())
        if len(word) >= _OWN_WORD
    ]
    if _is_common(password, own):
        raise Invalid(
            "This password is one of the first that somebody would try. Use a few unrelated words.",
            field="password",
        )


def is_encoded(text: str) -> bool:
    """Returns whether a text is an argon2id hash and not a password in the clear."""
    return bool(re.fullmatch(r"\$argon2id\$v=19\$[A-Za-z0-9+/=,$]{40,220}", text))


def matches(encoded: str, password: str) -> bool:
    """Returns whether the password is the one that was encoded.

    Takes as long without a stored hash as with one, so that the time does not tell who exists.
    """
    known = encoded or _nobody()
    with _slots:
        try:
            _hasher.verify(known, password[:LONGEST])
        except (VerificationError, InvalidHashError):
            return False
    return bool(encoded)


_nobody_hash: list[str] = []


def _nobody() -> str:
    if not _nobody_hash:
        _nobody_hash.append(_hasher.hash("nobody has this password"))
    return _nobody_hash[0]


def _is_common(password: str, own: list[str]) -> bool:
    lowered = password.lower()
    return any(_only_common(text, own) for text in (lowered, lowered.translate(_LEET)))


def _only_common(text: str, own: list[str]) -> bool:
    rest = re.sub(r"[^a-z0-9]+", "", text)
    if len(set(rest)) < _FEW:
        return True
    for word in sorted((*_FAMILIES, *own), key=len, reverse=True):
        rest = rest.replace(word, "")
    return len(re.sub(r"[0-9]+", "", rest)) < _FEW
