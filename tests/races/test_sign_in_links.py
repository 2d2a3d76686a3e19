"""One link, many browsers at the same instant: one session."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from crewlet.kernel.authority import Grant
from crewlet.kernel.errors import CrewletError
from orgs.models.people import Credential, Person, PersonStage, SignInTally
from orgs.people import links, throttle
from orgs.people.actors import session_actor
from tests.support.people import a_person

RACERS = 8


def at_once(jobs: list[Callable[[], object]]) -> list[object]:
    """Runs the jobs in threads that start together; returns answers, and refusals as such."""
    barrier = Barrier(len(jobs))

    def run(job: Callable[[], object]) -> object:
        try:
            barrier.wait(timeout=10)
            return job()
        except CrewletError as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(jobs)) as pool:
        return list(pool.map(run, jobs))


def refusals(answers: list[object]) -> int:
    return sum(isinstance(answer, CrewletError) for answer in answers)


@pytest.mark.parametrize("attempt", range(3))
def test_one_link_signs_one_of_many_in(attempt: int) -> None:
    code = links.make(a_person(), created_by="test")
    answers = at_once([lambda: links.spend(code)] * RACERS)
    assert refusals(answers) == RACERS - 1
    assert Credential.objects.get().used_at is not None


def test_two_links_for_the_first_person_make_one() -> None:
    codes = [links.make(None, created_by="test") for _ in range(4)]
    answers = at_once([lambda code=code: links.spend(code) for code in codes])  # type: ignore[misc]
    assert refusals(answers) == 3
    assert Person.objects.count() == 1


def test_of_two_who_suspend_each_other_one_stays_in_charge() -> None:
    from crewlet.kernel.actions import Door, perform

    people = [a_person(login, grants=[Grant.PEOPLE_MANAGE]) for login in ("a.one", "b.two")]
    pairs = [(people[0], people[1]), (people[1], people[0])]

    def suspend(who: Person, whom: Person) -> object:
        args = {"login": whom.login}
        return perform(
            session_actor(who), "suspend_person", args, op_id=None, door=Door.FORM
        ).unwrap()

    answers = at_once([lambda pair=pair: suspend(*pair) for pair in pairs])  # type: ignore[misc]
    assert refusals(answers) == 1
    assert Person.objects.filter(stage=PersonStage.ACTIVE).count() == 1


def test_guesses_side_by_side_are_all_counted() -> None:
    answers = at_once([lambda: throttle.count_try("198.51.100.7")] * (throttle.TRIES + 6))
    assert refusals(answers) >= 6
    assert sum(SignInTally.objects.values_list("tries", flat=True)) == throttle.TRIES + 6
