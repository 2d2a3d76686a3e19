"""The directory of projects: kept counts, the newest change, archived projects."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from crewlet.kernel.errors import Forbidden, Invalid
from crewlet.kernel.ids import new_id
from orgs.models.seats import Seat
from tests.support.people import ORIGIN, a_person, signed_in
from tests.tracker.company import act, comment, create, update
from tests.tracker.conftest import Cast
from tracker import counts
from tracker.models.history import Change
from tracker.models.items import WorkItem
from tracker.models.projects import Project, ProjectTally
from tracker.queries.projects import directory, project


def _counts(key: str = "ENG") -> tuple[int, int, int, int]:
    tally = ProjectTally.objects.get(project__key=key)
    return tally.todo, tally.active, tally.done, tally.closed


def _newest(key: str = "ENG") -> tuple[str, str]:
    tally = ProjectTally.objects.get(project__key=key)
    return tally.last_actor, tally.last_actor_kind


def _ana() -> Client:
    person = a_person("ana.silva", seat=Seat.objects.get(handle="ana"))
    return signed_in(Client(headers={"origin": ORIGIN}), person)


@pytest.mark.covers("TRK-3")
def test_kept_counts_never_drift_over_filing_changing_placing_and_talking(cast: Cast) -> None:
    """Every step leaves what a full count gives."""
    first = create(cast.ana, "One", project="ENG")
    second = create(cast.swe, "Two", project="ENG", status="in_progress")
    create(cast.ana, "Done at once", project="ENG", status="done")
    assert _counts() == (1, 1, 1, 0)
    update(cast.swe, first, status="in_progress")
    assert _counts() == (0, 2, 1, 0)
    update(cast.swe, first, status="in_review")
    assert _counts() == (0, 2, 1, 0)
    update(cast.swe, first, title="A new title", priority="high")
    comment(cast.ana, first, "Good")
    for status in ("done", "cancelled", "todo"):
        second.refresh_from_db()
        act(
            cast.ana, "place_work_item", item=second.key, status=status, if_match=second.version,
            after=first.key,
        )  # fmt: skip
        assert counts.recount(check=True) == []
    assert _counts() == (1, 1, 1, 0)
    with pytest.raises(Invalid):
        create(cast.ana, "Never", project="ENG", assignee="nobody-here")
    assert counts.recount(check=True) == []


@pytest.mark.covers("TRK-3")
def test_the_newest_change_is_the_newest_entry_of_history(cast: Cast) -> None:
    """A drag in the order, spend and settings do not move it; an unused project has none."""
    assert project(cast.ana, "ENG")["last_change"] is None
    item = create(cast.ana, "One", project="ENG")
    other = create(cast.swe, "Two", project="ENG")
    assert _newest() == (cast.swe.author, "agent")
    comment(cast.ana, item, "Hello")
    assert _newest() == (cast.ana.author, "human")
    found = project(cast.ana, "eng")["last_change"]
    assert found["at"] == Change.objects.order_by("-seq")[0].at
    assert (found["actor"], found["actor_kind"]) == (cast.ana.author, "human")
    act(cast["omar"], "place_work_item", item=item.key, after=other.key, if_match=item.version)
    act(cast["omar"], "write_project", project="ENG", default_assignee="qa")
    assert project(cast.ana, "ENG")["last_change"] == found
    assert project(cast.ana, "OPS")["last_change"] is None
    assert counts.recount(check=True) == []


@pytest.mark.covers("TRK-3")
@pytest.mark.parametrize("asked", ["--check", ""])
def test_a_recount_finds_what_drifted_and_mends_it_unless_it_only_checks(
    cast: Cast, asked: str
) -> None:
    create(cast.ana, "One", project="ENG")
    WorkItem.objects.filter(project__key="ENG").update(status="in_progress", group="active")
    stdout = io.StringIO()
    given = [asked] if asked else []
    if asked:
        with pytest.raises(SystemExit) as end:
            call_command("work", "recount", *given, "--json", stdout=stdout)
        assert end.value.code
        assert "ENG: todo was 1, is 0, active was 0, is 1." in stdout.getvalue()
        assert _counts() == (1, 0, 0, 0)
        return
    call_command("work", "recount", "--json", stdout=stdout)
    (mended,) = json.loads(stdout.getvalue())["projects"]
    assert mended["project"] == "ENG"
    assert mended["wrong"]["active"] == {"kept": 0, "true": 1}
    assert _counts() == (0, 1, 0, 0)
    assert counts.recount(check=True) == []


@pytest.mark.covers("TRK-4")
def test_the_directory_is_narrowed_sorted_and_counted(cast: Cast) -> None:

    def keys(**query: str) -> list[str]:
        return [row["key"] for row in directory(cast.ana, query).rows]

    create(cast.ana, "One", project="OPS")
    create(cast.ana, "Two", project="ENG", status="done")
    assert keys() == ["ENG", "OPS"]
    assert keys(sort="-key") == keys(sort="-open") == keys(sort="done") == ["OPS", "ENG"]
    assert keys(sort="-last_change") == keys(sort="unit") == keys(sort="name") == ["ENG", "OPS"]
    assert (
        keys(q="lamps") == keys(q="en") == keys(unit="ENG") == keys(unit="engineering") == ["ENG"]
    )
    assert keys(unit="nowhere") == []
    act(cast.ana, "write_project", project="OPS", archived=True)
    assert keys() == ["ENG"]
    assert keys(archived="only") == ["OPS"]
    assert keys(archived="true") == ["ENG", "OPS"]
    assert directory(cast.ana, {"q": "zzz"}).census == {"active": 1, "archived": 1}
    for name, value in (("archived", "yes"), ("sort", "opens"), ("colour", "red")):
        with pytest.raises(Invalid) as refusal:
            directory(cast.ana, {name: value})
        assert refusal.value.message.startswith(f"{name}:")
    with pytest.raises(Invalid, match="Did you mean open"):
        directory(cast.ana, {"sort": "opens"})


@pytest.mark.covers("TRK-4")
def test_the_directory_sorts_a_project_without_any_change_last_both_ways(cast: Cast) -> None:
    create(cast.ana, "One", project="OPS")
    for sort in ("last_change", "-last_change"):
        assert [row["key"] for row in directory(cast.ana, {"sort": sort}).rows] == ["OPS", "ENG"]


@pytest.mark.covers("TRK-4")
def test_an_archived_project_takes_no_new_item_or_file_until_it_is_restored(cast: Cast) -> None:
    """What is there goes on."""
    item = create(cast.ana, "One", project="ENG")
    act(cast.cto, "write_project", project="ENG", archived=True)
    for call in (
        {"name": "create_work_item", "title": "Two", "project": "ENG"},
        {"name": "create_work_item", "title": "Part", "parent": item.key},
        {"name": "write_project_file", "project": "ENG", "path": "a.md", "content": "A"},
    ):
        with pytest.raises(Invalid, match=r"archived=false|archived and takes no new"):
            act(cast.swe, **call)
    update(cast.swe, item, status="done")
    assert _counts() == (0, 0, 1, 0)
    act(cast.ana, "write_project", project="ENG", archived=False)
    assert create(cast.ana, "Two", project="ENG").key == "ENG-2"


@pytest.mark.covers("TRK-4")
def test_only_the_lead_whoever_is_above_and_people_change_a_project(cast: Cast) -> None:
    for sent in ({"archived": True}, {"default_assignee": "qa"}):
        with pytest.raises(Forbidden, match="agent-cto"):
            act(cast.swe, "write_project", project="ENG", **sent)
    act(cast.cto, "write_project", project="ENG", default_assignee="qa")
    item = create(cast.ana, "One", project="ENG")
    assert item.assignee_id == cast.snapshot.seat_ids["qa"]
    act(cast.operator, "write_project", project="ENG", default_assignee="none")
    assert Project.objects.get(key="ENG").default_assignee_id is None
    same = act(cast.ana, "write_project", project="ENG", default_assignee="none", archived=False)
    assert same.message == "Nothing changed."


@pytest.mark.covers("TRK-4", "TRK-18")
def test_a_seat_lists_the_projects_with_their_tags(cast: Cast) -> None:
    act(cast.swe, "write_project", project="ENG", tags_add=[{"label": "Night shift"}])
    result = act(cast.swe, "list_projects")
    assert (
        "- ENG Engineering (Engineering); 0 open, 0 done; lead @agent-cto; tags: night-shift"
        in (result.message.splitlines())
    )
    assert result.data["census"] == {"active": 2, "archived": 0}
    assert result.data["total"] == 2


@pytest.mark.covers("TRK-4")
def test_the_api_gives_the_directory_with_its_census(cast: Cast) -> None:
    client = _ana()
    create(cast.ana, "One", project="ENG")
    act(cast.ana, "write_project", project="OPS", archived=True)

    def get(**query: str) -> dict[str, Any]:
        answer = client.get("/api/v1/work/projects", query)
        return {"status": answer.status_code, **answer.json()}

    found = get()
    assert (found["total"], found["census"]) == (1, {"active": 1, "archived": 1})
    assert found["projects"][0]["last_change"]["actor_kind"] == "human"
    assert [row["key"] for row in get(archived="only")["projects"]] == ["OPS"]
    assert get(archived="maybe")["status"] == 400
    assert get(colour="red")["message"].startswith("colour:")


@pytest.mark.covers("TRK-4")
def test_the_page_of_projects_shows_what_is_asked_for_and_leads_to_each(cast: Cast) -> None:
    """Rows open beside the list, and archived projects are out of the way."""
    create(cast.ana, "One", project="ENG")
    act(cast.ana, "write_project", project="OPS", archived=True)
    client = _ana()
    shown = client.get("/work/projects").content.decode()
    assert 'id="project-row-ENG"' in shown
    assert 'data-peek="project:ENG"' in shown
    assert 'data-live="work"' in shown
    assert "project-row-OPS" not in shown
    assert "Archived (1)" in shown
    only = client.get("/ui/work/projects?archived=only").content.decode()
    assert "project-row-OPS" in only
    assert "project-row-ENG" not in only
    assert "Nothing matches" in client.get("/work/projects?q=zzz").content.decode()
    new = client.get("/work/new").content.decode()
    assert '<option value="ENG"' in new
    assert '<option value="OPS"' not in new


@pytest.mark.covers("TRK-4", "TRK-18")
def test_a_project_is_archived_and_its_tags_are_kept_from_its_overview(cast: Cast) -> None:
    client = _ana()

    def post(**fields: str) -> int:
        answer = client.post(
            "/act/write_project",
            {"project": "ENG", "op_id": str(new_id()), **fields},
            headers={"hx-request": "true"},
        )
        return int(answer.status_code)

    assert post(**{"tags_add.0.label": "2024"}) < 400
    assert post(**{"tags_rename.#2024": "This year"}) < 400
    assert post(**{"tags_add.0.label": "Old"}) < 400
    assert post(tags_archive="old") < 400
    assert post(archived="true") < 400
    shown = client.get("/work/ENG/overview").content.decode()
    assert "This year" in shown
    assert "tag=any:2024" in shown
    assert "Archived: Old" in shown
    assert "This project is archived" in shown
    assert "Restore the project" in shown
    assert post(archived="false") < 400
    part = client.get("/ui/work/ENG/overview").content.decode()
    assert "Archive the project" in part
    assert 'data-live="project:ENG"' in part


@pytest.mark.covers("TRK-18")
def test_labels_are_set_from_the_page_of_an_item(cast: Cast) -> None:
    item = create(cast.ana, "One", project="ENG")
    client = _ana()
    answer = client.post(
        "/act/update_work_item",
        {
            "item": item.key, "labels": "Bug, Night shift", "labels_create_missing": "true",
            "op_id": str(new_id()),
        },
        headers={"hx-request": "true"},
    )  # fmt: skip
    assert answer.status_code < 400
    item.refresh_from_db()
    assert item.tags == ["bug", "night-shift"]
    assert "Night shift" in client.get(f"/work/{item.key}").content.decode()
    assert "Night shift" in client.get("/work/ENG?shape=list").content.decode()
