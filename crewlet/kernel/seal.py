"""Sealed values: AES-256-GCM, the value's name bound in as associated data."""

from __future__ import annotations

import base64
import hashlib
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings

from crewlet.kernel.errors import Unavailable

_NONCE_BYTES = 12
_VERSION = "v1"


def _sealing_key() -> bytes:
    secret = settings.SECRET_KEY
    if not secret:
        raise Unavailable("There is no sealing key. Set SECRET_KEY, or start with `manage.py up`.")
    return hashlib.sha256(b"crewlet sealing key\x00" + secret.encode()).digest()


def key_id() -> str:
    """Returns the short public name of the key in use."""
    return hashlib.sha256(_sealing_key()).hexdigest()[:12]


def seal(name: str, plaintext: str) -> str:
    """Returns the value sealed under its name: `v1.<key id>.<base64>`."""
    nonce = os.urandom(_NONCE_BYTES)
    box = AESGCM(_sealing_key()).encrypt(nonce, plaintext.encode(), name.encode())
    return f"{_VERSION}.{key_id()}.{base64.urlsafe_b64encode(nonce + box).decode()}"


def unseal(name: str, sealed: str) -> str:
    """Returns the plaintext; raises `Unavailable` for another key, name or a changed value."""
    _, _, body = sealed.split(".", 2)
    raw = base64.urlsafe_b64decode(body)
    try:
        opened = AESGCM(_sealing_key()).decrypt(
            raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], name.encode()
        )
    except InvalidTag as error:
        raise Unavailable(
            f"The value '{name}' was sealed with another key. Put the old SECRET_KEY back."
        ) from error
    return opened.decode()
