"""One entry of `providers.llm` with all of its keys (TURN-52).

The least busy key that does not cool is asked; one that fails for its own sake cools, and the next
one is asked in the same call. When none is left the entry has failed, with the earliest time at
which one of them is free.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from agents.llm import cooling, in_flight
from agents.llm.base import Answer, ErrorKind, ProviderError, Request
from agents.llm.http_provider import HttpProvider
from agents.llm.settings import LONGEST_CALL_SECONDS
from crewlet.kernel import clock, db

ANOTHER_PROBES = 5.0
"""Seconds to wait at most while another call tries a key that had cooled."""


@dataclass(frozen=True, slots=True)
class Member:
    """A key of the entry, by its digest, and the provider that asks with it."""

    digest: str
    provider: HttpProvider
    seconds: float = LONGEST_CALL_SECONDS


class Keyed:
    """Asks with one of several keys. Safe for many threads; holds no connection while it waits."""

    def __init__(
        self,
        members: Sequence[Member],
        rules: cooling.Rules,
        known: cooling.Known | None = None,
    ) -> None:
        self.members = tuple(members)
        self._first = members[0].provider
        self._rules = rules
        self._known = known

    @property
    def key(self) -> str:
        """The key of the provider in the company document."""
        return self._first.key

    @property
    def vendor(self) -> str:
        """The wire it speaks."""
        return self._first.vendor

    @property
    def model(self) -> str:
        """The model it asks for."""
        return self._first.model

    def complete(self, request: Request) -> Answer:
        """Returns a whole answer; raises `ProviderError`."""
        known = self._take_known()
        left = list(self.members)
        failure: ProviderError | None = None
        while left:
            member = self._choose(left, known)
            if member is None:
                break
            left.remove(member)
            try:
                return self._ask(member, request, known)
            except ProviderError as error:
                if error.kind not in cooling.COOLS:
                    raise
                slot = (self.key, member.digest)
                known[slot] = cooling.cool(*slot, error, self._rules)
                db.release()
                failure = error
        raise self._exhausted(known, failure)

    def _take_known(self) -> cooling.Known:
        """Returns what was read when the chain was put together, the first time; else reads."""
        known, self._known = self._known, None
        if known is None:
            known = cooling.read([self.key])
            db.release()
        return dict(known)

    def _choose(self, left: list[Member], known: cooling.Known) -> Member | None:
        ready = [member for member in left if (self.key, member.digest) not in known]
        if ready:
            busy = in_flight.counts(self.key, [member.digest for member in ready])
            return ready[busy.index(min(busy))]
        for member in left:
            cooled = known[self.key, member.digest]
            if cooled.free_at() <= clock.now():
                probes = cooling.take_probe(self.key, member.digest, member.seconds + 5)
                db.release()
                if probes:
                    return member
        return None

    def _ask(self, member: Member, request: Request, known: cooling.Known) -> Answer:
        seconds = request.timeout or member.seconds
        slot = (self.key, member.digest)
        try:
            with in_flight.counted(*slot, seconds):
                answer = member.provider.complete(request)
        except ProviderError as error:
            if slot in known and error.kind not in cooling.COOLS:
                cooling.drop_probe(*slot)
            raise
        if slot in known:
            cooling.worked(*slot)
        return answer

    def _exhausted(self, known: cooling.Known, failure: ProviderError | None) -> ProviderError:
        now = clock.now()
        states = [known[self.key, m.digest] for m in self.members if (self.key, m.digest) in known]
        waiting = min((_wait(state, now) for state in states), default=ANOTHER_PROBES)
        if failure is not None:
            return ProviderError(
                failure.kind, failure.message, waiting,
                status=failure.status, provider_key=self.key,
            )  # fmt: skip
        kinds = {state.reason for state in states}
        kind = ErrorKind.AUTH if kinds == {ErrorKind.AUTH.value} else ErrorKind.RATE_LIMIT
        said = next((state.last_error for state in states if state.last_error), "")
        words = f'Every key of provider "{self.key}" cools for {round(waiting)} more seconds.'
        return ProviderError(kind, f"{words} {said}".strip(), waiting, provider_key=self.key)


def _wait(state: cooling.Cooled, now: datetime) -> float:
    if state.until > now:
        return (state.until - now).total_seconds()
    return ANOTHER_PROBES
