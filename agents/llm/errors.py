"""What went wrong on a wire, as one of our five kinds and one sentence.

Both SDKs ride on httpx2. A connection that drops in mid-stream surfaces as a bare httpx2 error from
one and wrapped from the other, and an overloaded server can say so inside a stream of status 200;
all of them are judged here, so that the chain sees one vocabulary.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime

import httpx2

from agents.llm import dialects
from agents.llm.base import ErrorKind, ProviderError
from agents.llm.dialects import CONTEXT, FILTERED, QUOTA, codes, error_object, spoken, vendor_words
from agents.llm.resets import stated_wait
from agents.llm.settings import key_digest
from crewlet.kernel import clock

CLIENT_FAILS, TOO_LARGE, SERVER_FAILS, NO_STATUS = 400, 413, 500, 600


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Who was asked, for the sentence of an error; `secret` is never shown."""

    key: str
    vendor: str
    model: str
    base_url: str
    secret: str = field(default="", repr=False)

    def describe(self) -> str:
        """Returns the provider as a founder knows it."""
        key = f", key {key_digest(self.secret)}" if self.secret else ""
        return f'Provider "{self.key}" ({self.vendor}, model {self.model}{key})'


_BY_STATUS: dict[int, ErrorKind] = {
    401: ErrorKind.AUTH,
    402: ErrorKind.RATE_LIMIT,
    403: ErrorKind.AUTH,
    408: ErrorKind.TIMEOUT,
    409: ErrorKind.SERVER,
    425: ErrorKind.SERVER,
    429: ErrorKind.RATE_LIMIT,
    504: ErrorKind.TIMEOUT,
}
_BY_WORD: dict[str, ErrorKind] = {
    "overloaded_error": ErrorKind.SERVER,
    "api_error": ErrorKind.SERVER,
    "server_error": ErrorKind.SERVER,
    "internal_error": ErrorKind.SERVER,
    "timeout_error": ErrorKind.TIMEOUT,
    "rate_limit_error": ErrorKind.RATE_LIMIT,
    "rate_limit_exceeded": ErrorKind.RATE_LIMIT,
    "insufficient_quota": ErrorKind.RATE_LIMIT,
    "billing_error": ErrorKind.RATE_LIMIT,
    "authentication_error": ErrorKind.AUTH,
    "invalid_api_key": ErrorKind.AUTH,
    "permission_error": ErrorKind.AUTH,
    "invalid_request_error": ErrorKind.FATAL,
    "not_found_error": ErrorKind.FATAL,
    "request_too_large": ErrorKind.FATAL,
}
_REMEDY: dict[ErrorKind, str] = {
    ErrorKind.AUTH: "Check its api_keys.",
    ErrorKind.RATE_LIMIT: "Wait, add another key, or raise the account's limit.",
    ErrorKind.TIMEOUT: "Raise its timeout_seconds or try a faster model.",
    ErrorKind.SERVER: "The vendor's side failed; trying again later may work.",
    ErrorKind.FATAL: "Check its model and base_url.",
}


def kind_of_status(status: int) -> ErrorKind:
    """Returns what an HTTP status means; an unknown one is fatal (TURN-51)."""
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    return ErrorKind.SERVER if status >= SERVER_FAILS else ErrorKind.FATAL


def kind_of_body(body: object) -> ErrorKind:
    """Returns what an error in a body of status 200 means; an unknown one is the server's."""
    for word in codes(error_object(body)):
        if word in _BY_WORD and _BY_WORD[word] is not ErrorKind.FATAL:
            return _BY_WORD[word]
        if word.isdigit() and CLIENT_FAILS <= int(word) < NO_STATUS:
            return _kind_of_refusal(int(word), body)
    said = dialects.kind_of(spoken(body))
    if said is not None:
        return said
    fatal = any(_BY_WORD.get(word) is ErrorKind.FATAL for word in codes(error_object(body)))
    return ErrorKind.FATAL if fatal else ErrorKind.SERVER


def _kind_of_refusal(status: int, body: object) -> ErrorKind:
    """Returns what a status means together with the words that came with it."""
    kind = kind_of_status(status)
    if kind in (ErrorKind.FATAL, ErrorKind.AUTH):
        return dialects.kind_of(spoken(body)) or kind
    return kind


def provider_error(
    endpoint: Endpoint,
    kind: ErrorKind,
    said: str,
    *,
    retry_after: float | None = None,
    status: int | None = None,
) -> ProviderError:
    """Builds the error in words: who, what they said, what to do."""
    if endpoint.secret:
        said = said.replace(endpoint.secret, "[redacted]")
    said = said.rstrip(".") or "no reason given"
    message = f"{endpoint.describe()} failed: {said}. {_REMEDY[kind]}"
    return ProviderError(kind, message, retry_after, status=status, provider_key=endpoint.key)


def from_status(
    endpoint: Endpoint, status: int, body: object, headers: Mapping[str, str]
) -> ProviderError:
    """Returns the error of an HTTP answer outside 2xx."""
    kind = _kind_of_refusal(status, body)
    said = vendor_words(body) or "no reason given"
    waiting = None if kind is ErrorKind.FATAL else retry_after(headers)
    if waiting is None and kind is ErrorKind.RATE_LIMIT:
        waiting = _wait_of(body)
    return provider_error(
        endpoint, kind, f"HTTP {status}, {said}", retry_after=waiting, status=status
    )


def from_stream(endpoint: Endpoint, body: object) -> ProviderError:
    """Returns the error that an answer of status 200 brought, whole or in its stream."""
    said = vendor_words(body) or "an error inside the answer"
    kind = kind_of_body(body)
    waiting = _wait_of(body) if kind is ErrorKind.RATE_LIMIT else None
    return provider_error(endpoint, kind, said, retry_after=waiting)


def _wait_of(body: object) -> float | None:
    stated = [_duration(value) for value in dialects.waits_in(body)]
    waits = [wait for wait in stated if wait is not None]
    if waits:
        return max(waits)
    upstream = retry_after(dialects.headers_in(body))
    if upstream is not None:
        return upstream
    # Not in small letters: the name of a time zone is told by its capitals.
    return stated_wait(" ".join([*codes(error_object(body)), vendor_words(body)]))


def from_transport(endpoint: Endpoint, problem: BaseException) -> ProviderError:
    """Returns the error of a connection that failed, timed out or broke off."""
    for cause in _causes(problem):
        if isinstance(cause, httpx2.ConnectTimeout | httpx2.ConnectError):
            where = endpoint.base_url
            return provider_error(
                endpoint, ErrorKind.SERVER, f"{where} cannot be reached ({type(cause).__name__})"
            )
        if isinstance(cause, httpx2.TimeoutException):
            return provider_error(endpoint, ErrorKind.TIMEOUT, "it did not answer in time")
    words = type(problem.__cause__ or problem).__name__
    return provider_error(endpoint, ErrorKind.SERVER, f"the connection broke off ({words})")


def exceeds_context(status: int, body: object) -> bool:
    """Whether a refused request is one whose prompt does not fit the model.

    `status` is 200 for an error inside an answer. A limit of tokens per minute is none of these.
    """
    said = spoken(body)
    if status not in (200, 400, 413, 422, 500) or QUOTA.search(said):
        return False
    return status == TOO_LARGE or CONTEXT.search(said) is not None


def content_filtered(status: int, body: object) -> bool:
    """Whether a vendor's filter declined the prompt before any model saw it."""
    return status in (200, 400, 403, 422) and FILTERED.search(spoken(body)) is not None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Returns how many seconds the vendor asks to wait, None if it does not say.

    `Retry-After` (seconds or a date) wins; else the latest of the spent limits' reset headers.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    milliseconds = _number(lower.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    stated = lower.get("retry-after", "")
    if stated:
        seconds = _number(stated)
        seconds = seconds if seconds is not None else _until(_http_date(stated))
        if seconds is not None:
            return seconds
    waits = [wait for wait in _resets(lower) if wait is not None]
    return max(waits, default=None)


def _resets(headers: Mapping[str, str]) -> Iterator[float | None]:
    for name, value in headers.items():
        if "ratelimit" not in name or "reset" not in name:
            continue
        remaining = headers.get(name.replace("reset", "remaining"))
        if remaining is not None and _number(remaining) not in (0.0, None):
            continue
        yield _duration(value)


_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:([\d.]+)s)?(?:([\d.]+)ms)?")
_EPOCH = 1_000_000_000


def _duration(value: str) -> float | None:
    number = _number(value)
    if number is not None:
        # A number this large is a point in time (seconds or milliseconds), not a wait.
        if number > _EPOCH * 1000:
            number /= 1000
        return max(0.0, number - clock.now().timestamp()) if number > _EPOCH else number
    match = _DURATION.fullmatch(value.strip())
    if match and any(match.groups()):
        hours, minutes, seconds, millis = (float(part or 0) for part in match.groups())
        return hours * 3600 + minutes * 60 + seconds + millis / 1000
    try:
        return _until(datetime.fromisoformat(value.strip()))
    except ValueError:
        return None


def _http_date(value: str) -> datetime | None:
    try:
        return parsedate_to_datetime(value)
    except ValueError:
        return None


def _until(moment: datetime | None) -> float | None:
    if moment is None or moment.tzinfo is None:
        return None
    return max(0.0, (moment - clock.now()).total_seconds())


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value is not None else None
    except ValueError:
        return None
    return number if number is not None and 0 <= number < float("inf") else None


def _causes(problem: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = problem
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__
