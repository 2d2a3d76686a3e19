"""The verb over model providers: test one."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from agents.llm.trials import TOPIC
from agents.models.providers import ProviderTest
from crewlet.kernel import clock, live
from crewlet.kernel.actions import Args, Doors, Result, action
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from crewlet.kernel.errors import NotFound
from orgs import epochs

ProviderName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64)]


class ProviderToTest(Args):
    """Which model is to be asked for one word."""

    provider: ProviderName = Field(description="The provider's key under providers.llm.")


def _entry(actor: Actor, args: ProviderToTest) -> str:
    entries = epochs.active().document.providers.llm
    if args.provider not in entries:
        known = ", ".join(entries) or "none"
        raise NotFound(f"There is no provider '{args.provider}'. The company has: {known}.")
    return args.provider


@action(
    "test_provider",
    args=ProviderToTest,
    doors=Doors.PEOPLE,
    grant=Grant.CONFIG_WRITE,
    rules=("not_agent",),
    fetch=_entry,
    idempotent=True,
    label="Tested {provider}",
)
def test_provider(actor: Actor, args: ProviderToTest, provider: str) -> Result:
    """Asks a worker to call a provider once for one word, with the keys that seats use. The
    result stands at the provider within seconds; asking again while a test waits changes nothing.
    A test costs a few tokens of the vendor's, and none of the company's budget."""
    now = clock.now()
    test, created = ProviderTest.objects.get_or_create(
        provider=provider, defaults={"asked_by": actor.author, "asked_at": now}
    )
    if not created and test.state == "done":
        test.state, test.asked_by, test.asked_at = "pending", actor.author, now
        test.ended_at, test.ok, test.said, test.ms = None, False, "", None
        test.save()
    live.changed(TOPIC)
    return Result(
        f"{provider} is being tested; the result appears at the provider.",
        data={"provider": provider, "state": test.state},
    )
