"""Several models in a row: the next one answers where one could not (TURN-51).

Per call, not per turn: every call starts at the first entry again. A fatal error stops the row,
because the next model would be sent the same mistake; a refusal is an answer and ends it too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agents.llm.base import (
    Answer,
    ErrorKind,
    Fallback,
    NoProvider,
    Provider,
    ProviderError,
    Request,
)

SERVER_RETRY_SECONDS = 60.0


class Failover:
    """Asks its members in order. `Answer.provider_key` says which one served."""

    def __init__(
        self, first: Provider, others: Sequence[tuple[str, Callable[[], Provider]]]
    ) -> None:
        self._first = first
        self._others = tuple(others)

    def _open_first(self) -> Provider:
        return self._first

    @property
    def key(self) -> str:
        """The key of the entry that is asked first."""
        return self._first.key

    @property
    def vendor(self) -> str:
        """The wire of the entry that is asked first."""
        return self._first.vendor

    @property
    def model(self) -> str:
        """The model that is asked first."""
        return self._first.model

    def complete(self, request: Request) -> Answer:
        """Returns the first answer that one of them gives.

        Raises the `ProviderError` of a single failure as it is; of several, one that tells them
        all, of the kind of the last and with the wait after which the first of them may answer.
        """
        failures: list[ProviderError] = []
        before = ""
        for key, open_member in ((self.key, self._open_first), *self._others):
            if failures and request.on_fallback is not None:
                last = failures[-1]
                request.on_fallback(Fallback(before, key, last.kind, last.message))
            before = key
            try:
                return open_member().complete(request)
            except NoProvider as missing:
                failures.append(ProviderError(ErrorKind.AUTH, missing.message))
            except ProviderError as failure:
                if not failure.kind.retryable:
                    raise
                failures.append(failure)
        raise _summed(failures)


def _summed(failures: Sequence[ProviderError]) -> ProviderError:
    last = failures[-1]
    if len(failures) == 1:
        return last
    told = " ".join(failure.message for failure in failures)
    return ProviderError(
        last.kind,
        f"No model of the chain could answer. {told}",
        _earliest(failures),
        status=last.status,
        provider_key=last.provider_key,
    )


def _earliest(failures: Sequence[ProviderError]) -> float | None:
    stated = [failure.retry_after for failure in failures if failure.retry_after is not None]
    # A server that failed may be back at any time, whatever the keys of the others wait for.
    if stated and any(
        failure.retry_after is None and failure.kind in (ErrorKind.SERVER, ErrorKind.TIMEOUT)
        for failure in failures
    ):
        stated.append(SERVER_RETRY_SECONDS)
    return min(stated, default=None)
