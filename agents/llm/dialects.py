"""What vendors say of a failure, in their own words, as one of our kinds.

A status alone does not tell: a spent balance comes as 400, 402, 403 or 429, a bad key as 400, a
prompt that does not fit as 400, 413, 422 or 500, and any of them inside a body of status 200.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from agents.llm.base import ErrorKind
from crewlet.kernel.redact import clean

LONGEST_WORDS = 500
_SAID = ("message", "msg", "status_msg", "error_msg", "detail", "error_description", "code")
_PAGE = re.compile(r"\s*<(?:!doctype|html|\?xml)", re.IGNORECASE)
_TITLE = re.compile(r"<title>(.*?)</title>", re.IGNORECASE | re.DOTALL)

CONTEXT = re.compile(
    r"context[_ ](?:length|window|size|limit)|exceeds? the (?:available )?context"
    r"|context_exceeded|prompt is too long|prompt exceeds max|maximum prompt length"
    r"|input (?:length|is too long|token count)|max_prompt_tokens"
    r"|too many (?:input )?tokens in (?:the )?prompt|prompt token count .{0,40}exceeds"
    r"|reduce the length of the (?:messages|prompt|input)|exceeded model token limit"
    r"|`?inputs`? tokens \+|max message tokens|request_too_large|request entity too large"
)
QUOTA = re.compile(
    r"quota|insufficient[_ ](?:user[_ ])?(?:balance|credits?|funds)|credit balance"
    r"|(?:out of|not enough|requires more) credits|billing|payment required|arrear"
    r"|(?:usage|spend(?:ing)?|key) limit|rate[_ -]?limit|too many requests"
    r"|resource[_ ]exhausted|tokens per (?:minute|day)|余额不足"
)
AUTH = re.compile(
    r"(?:invalid|incorrect|missing|expired|bad|no|wrong)[_ ](?:\w+[_ ]){0,2}"
    r"(?:api[_ -]?key|access token|credentials)"
    r"|api[_ -]?key (?:not valid|is (?:invalid|missing|expired)|expired|not found)"
    r"|unauthori[sz]ed|unauthenticated|authentication"
)
FILTERED = re.compile(
    r"content_filter|content_policy_violation|content management policy|data_?inspection_?failed"
    r"|content exists risk|inappropriate content|requires moderation|moderation_blocked"
    r"|prohibited_content"
)


def error_object(body: object) -> object:
    """Returns the error inside a body that wraps it (`{"error": …}`, `[{"error": …}]`)."""
    if isinstance(body, list) and body:
        body = body[0]
    if isinstance(body, Mapping):
        return body.get("error") or body.get("base_resp") or body
    return body


def vendor_words(body: object) -> str:
    """Returns what the vendor said, without credentials, at most 500 characters.

    Of a web page, which a proxy sends in the vendor's place, only the title.
    """
    error = error_object(body)
    if isinstance(error, Mapping):
        said = next((error[name] for name in _SAID if error.get(name)), "")
        metadata = error.get("metadata")
        if isinstance(metadata, Mapping) and metadata.get("raw"):
            said = f"{said}: {metadata['raw']}"
    else:
        said = error or ""
    text = str(said)
    if _PAGE.match(text):
        title = _TITLE.search(text)
        text = f'a web page ("{title[1].strip()}")' if title else "a web page"
    return clean(" ".join(text.split()))[:LONGEST_WORDS]


def codes(error: object) -> list[str]:
    """Returns the short words of an error object (type, code, status) in small letters."""
    if not isinstance(error, Mapping):
        return []
    values: list[Any] = [error.get(name) for name in ("type", "code", "status", "status_code")]
    inner = error.get("innererror")
    if isinstance(inner, Mapping):
        values.append(inner.get("code"))
    return [str(value).lower() for value in values if value is not None]


def spoken(body: object) -> str:
    """Returns everything an error says, in small letters, to be searched."""
    return " ".join([*codes(error_object(body)), vendor_words(body).lower()])


def kind_of(said: str) -> ErrorKind | None:
    """Returns what an error's words mean where they say more than its status."""
    if QUOTA.search(said):
        return ErrorKind.RATE_LIMIT
    if AUTH.search(said):
        return ErrorKind.AUTH
    return None


def waits_in(body: object) -> Iterator[str]:
    """Yields the waits that a body states beside its words: `retryDelay`, `retry_after`."""
    error = error_object(body)
    if not isinstance(error, Mapping):
        return
    holders = [error, error.get("metadata"), *_list(error.get("details"))]
    for holder in holders:
        if not isinstance(holder, Mapping):
            continue
        for name in ("retryDelay", "retry_after", "retry_after_seconds", "retryAfter"):
            if isinstance(holder.get(name), str | int | float):
                yield str(holder[name])


def headers_in(body: object) -> Mapping[str, str]:
    """Returns the upstream's headers that a router passes on inside its error."""
    error = error_object(body)
    metadata = error.get("metadata") if isinstance(error, Mapping) else None
    found = metadata.get("headers") if isinstance(metadata, Mapping) else None
    return {str(k): str(v) for k, v in found.items()} if isinstance(found, Mapping) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
