"""Files of a project and attachments of an item, by tool, REST and page."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from crewlet.files import store
from crewlet.kernel.errors import Conflict, CrewletError, Invalid, NotFound
from orgs.models.seats import Seat
from tests.support.people import ORIGIN, a_person, signed_in
from tests.tracker.company import act, create
from tests.tracker.conftest import Cast
from tracker.actions import file_arguments
from tracker.models.files import Attachment, ProjectFile
from tracker.models.history import Change

PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 20


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path


@pytest.fixture
def ana(cast: Cast) -> Client:
    person = a_person("ana.silva", seat=Seat.objects.get(handle="ana"))
    return signed_in(Client(headers={"origin": ORIGIN}), person)


def attach(client: Client, name: str, content: bytes, key: str = "k1", **more: str) -> Any:
    upload = SimpleUploadedFile(name, content, content_type="application/octet-stream")
    return client.post(
        "/api/v1/work/ENG-1/attachments", {"file": upload, **more},
        headers={"Idempotency-Key": key},
    )  # fmt: skip


@pytest.mark.covers("TRK-40", "KNOW-76")
def test_a_seat_writes_lists_and_reads_a_file_of_its_project(cast: Cast) -> None:
    text = "Köln: 220 V\n" * 5
    wrote = act(cast.swe, "write_project_file", path="docs/power.md", content=text)
    assert "version 1" in wrote.message
    act(cast.swe, "write_project_file", path="readme.md", content="Lamps")
    listed = act(cast.swe, "list_project_files", folder="docs")
    assert [file["path"] for file in listed.data["files"]] == ["docs/power.md"]
    first = act(cast.swe, "list_project_files", limit=1)
    rest = act(cast.swe, "list_project_files", after=first.data["next"])
    assert [file["path"] for file in rest.data["files"]] == ["readme.md"]
    shown, offset, more = "", 0, True
    while more:
        page = act(cast.qa, "read_project_file", path="docs/power.md", offset=offset, max_bytes=15)
        shown += page.data["content"]
        offset, more = page.data["next"], page.data["next"] is not None
    assert shown == text
    with pytest.raises(NotFound, match=r"no file 'docs/none\.md'"):
        act(cast.qa, "read_project_file", path="docs/none.md")


@pytest.mark.covers("KNOW-76")
def test_a_write_that_names_an_old_version_is_refused(cast: Cast) -> None:
    act(cast.swe, "write_project_file", path="a.txt", content="one", if_version=0)
    act(cast.swe, "write_project_file", path="a.txt", content="two", if_version=1)
    with pytest.raises(Conflict, match=r"a\.txt is at version 2 by now, not 1") as refused:
        act(cast.qa, "write_project_file", path="a.txt", content="three", if_version=1)
    assert refused.value.detail["current_version"] == 2
    with pytest.raises(Conflict, match="not 0"):
        act(cast.qa, "write_project_file", path="a.txt", content="new", if_version=0)
    with pytest.raises(Conflict, match="version 2"):
        act(cast.qa, "remove_project_file", path="a.txt", if_version=1)
    act(cast.qa, "remove_project_file", path="a.txt", if_version=2)
    with pytest.raises(NotFound):
        act(cast.qa, "read_project_file", path="a.txt")
    kinds = Change.objects.order_by("seq").values_list("kind", flat=True)
    assert list(kinds) == ["file_written", "file_written", "file_removed"]
    again = act(cast.swe, "write_project_file", path="a.txt", content="anew", if_version=0)
    assert again.data["version"] == 1


@pytest.mark.covers("TRK-40")
def test_binary_is_described_unless_base64_is_asked_for(cast: Cast) -> None:
    coded = base64.b64encode(PNG).decode()
    act(cast.swe, "write_project_file", path="lamp.png", content=coded, encoding="base64")
    told = act(cast.swe, "read_project_file", path="lamp.png")
    assert told.data["content"] is None
    assert "image/png" in told.message
    whole = act(cast.swe, "read_project_file", path="lamp.png", encoding="base64")
    assert base64.b64decode(whole.data["content"]) == PNG
    with pytest.raises(Invalid, match="not base64"):
        act(cast.swe, "write_project_file", path="b.png", content="%%", encoding="base64")


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../up", "a//b", "a/./b", "a\\b", "a\nb", "x" * 1025]
)
def test_a_path_is_names_joined_by_slashes(cast: Cast, path: str) -> None:
    act(cast.swe, "write_project_file", path="x" * 1024, content="fits")
    with pytest.raises(Invalid) as refused:
        act(cast.swe, "write_project_file", path=path, content="no")
    assert refused.value.detail["field"] == "path"
    assert ProjectFile.objects.count() == 1


@pytest.mark.covers("KNOW-72")
def test_a_damaged_file_is_an_error_at_every_door(cast: Cast, ana: Client) -> None:
    act(cast.swe, "write_project_file", path="a.txt", content="one")
    row = ProjectFile.objects.get()
    store.path_of(row.key).write_bytes(b"two")
    with pytest.raises(CrewletError, match="not those that were stored"):
        act(cast.swe, "read_project_file", path="a.txt")
    answer = ana.get(f"/files/{row.pk}")
    assert answer.status_code == 503
    assert b"two" not in answer.content


def test_a_person_works_with_project_files_by_rest(ana: Client) -> None:
    url = "/api/v1/work/projects/ENG/files"
    body = json.dumps({"content": "Lamps", "if_version": 0})
    put = ana.put(
        f"{url}/docs/a.md", body, content_type="application/json",
        headers={"Idempotency-Key": "w1"},
    )  # fmt: skip
    assert put.status_code == 200, put.content
    assert ana.get(f"{url}/docs/a.md").json()["result"]["content"] == "Lamps"
    assert len(ana.get(url).json()["result"]["files"]) == 1
    refused = ana.get(f"{url}?folders=docs")
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_query")
    assert b"docs/a.md" in ana.get("/ui/work/ENG/files").content
    gone = ana.delete(f"{url}/docs/a.md", headers={"Idempotency-Key": "w2"})
    assert gone.status_code == 200
    assert ana.get(f"{url}/docs/a.md").status_code == 404


@pytest.mark.covers("TRK-40")
def test_a_person_attaches_a_file_and_a_repeat_lands_once(cast: Cast, ana: Client) -> None:
    create(cast.ana, project="ENG")
    done = attach(ana, "lamp.png", PNG)
    assert done.status_code == 201, done.content
    assert attach(ana, "lamp.png", PNG).json()["replayed"] is True
    (row,) = ana.get("/api/v1/work/ENG-1/attachments").json()["attachments"]
    assert (row["name"], row["size"], row["author"]) == ("lamp.png", len(PNG), "ana")
    assert attach(ana, "../x\x01.png", PNG, key="k2").status_code in (201, 400)
    none = ana.post("/api/v1/work/ENG-1/attachments", {}, headers={"Idempotency-Key": "k3"})
    assert (none.status_code, none.json()["detail"]["field"]) == (400, "file")
    lost = attach(ana, "a.txt", b"x", key="k4", comment="none")
    assert (lost.status_code, lost.json()["detail"]["field"]) == (404, "comment")


def test_an_upload_is_saved_never_run_and_only_pictures_show(cast: Cast, ana: Client) -> None:
    create(cast.ana, project="ENG")
    upload = SimpleUploadedFile("page.html", b"<script>1</script>", content_type="text/html")
    posted = ana.post("/work/ENG-1/attachments", {"file": upload, "op_id": "p1"})
    assert (posted.status_code, posted["Location"]) == (303, "/work/ENG-1")
    row = Attachment.objects.get()
    for query in ("", "?preview=1"):
        page: Any = ana.get(f"/files/{row.pk}{query}")
        assert page["Content-Disposition"].startswith("attachment")
        assert page["X-Content-Type-Options"] == "nosniff"
        assert page["Content-Type"] == "application/octet-stream"
        assert b"".join(page.streaming_content) == b"<script>1</script>"
    picture = SimpleUploadedFile("lamp.png", PNG, content_type="image/png")
    ana.post("/work/ENG-1/attachments", {"file": picture, "op_id": "p2"})
    shown: Any = ana.get(f"/files/{Attachment.objects.get(name='lamp.png').pk}?preview=1")
    assert b"".join(shown.streaming_content) == PNG
    assert shown["Content-Type"] == "image/png"
    assert "attachment" not in shown["Content-Disposition"]
    part = ana.get("/ui/items/ENG-1/files").content.decode()
    assert "page.html" in part and "?preview=1" in part
    assert Client().get(f"/files/{row.pk}").status_code == 303
    act(cast.ana, "remove_attachment", item="ENG-1", attachment=str(row.pk))
    assert ana.get(f"/files/{row.pk}").status_code == 404


@pytest.mark.covers("TRK-40")
def test_a_projects_files_stand_on_a_page_of_their_own(ana: Client, cast: Cast) -> None:
    """An empty project says so; what a seat writes is listed with who wrote it."""
    empty = ana.get("/work/ENG/files").content.decode()
    assert "No files yet" in empty
    act(cast.swe, "write_project_file", project="ENG", path="plans/lamp.md", content="# Lamp")
    shown = ana.get("/work/ENG/files").content.decode()
    assert ">plans/lamp.md</a>" in shown
    assert "version 1" in shown
    assert 'href="/work/ENG/files" aria-current="page"' in shown
    board = ana.get("/work/ENG").content.decode()
    assert 'href="/work/ENG/files">Files</a>' in board
    assert ana.get("/work/NOPE/files").status_code == 404


@pytest.mark.covers("TRK-40")
def test_a_person_puts_a_file_into_a_project_and_a_taken_path_gets_its_next_version(
    ana: Client, cast: Cast, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the form of the page, with and without scripts; a refusal stands beside it."""

    def put(content: bytes, op: str, path: str = "plans/", **more: Any) -> Any:
        upload = SimpleUploadedFile("lamp.md", content, content_type="text/markdown")
        return ana.post("/work/ENG/files", {"file": upload, "path": path, "op_id": op}, **more)

    landed = put(b"# Lamp", "put-0001")
    assert (landed.status_code, landed["Location"]) == (303, "/work/ENG/files")
    assert put(b"# Lamp", "put-0001").status_code == 303, "a repeat lands once"
    again = put(b"# Lamp, brighter", "put-0002", headers={"HX-Request": "true"})
    assert again.status_code == 204
    assert "version 2" in json.loads(again["HX-Trigger"])["cw:done"]["message"]
    row = ProjectFile.objects.get(path="plans/lamp.md")
    assert (row.version, row.author_name) == (2, "Ana")
    bad = put(b"#", "put-0003", path="../secret", headers={"HX-Request": "true"})
    assert bad.status_code == 400
    assert "names joined by single slashes" in bad.content.decode()
    size = file_arguments.CONTENT_BYTES + 1
    assert put(b"x" * size, "put-0005", path="big.bin").status_code == 303, "more than one call"
    assert ProjectFile.objects.get(path="big.bin").size == size
    monkeypatch.setattr(store, "MAX_BYTES", 1024)
    large = put(b"x" * 1025, "put-0004")
    assert large.status_code == 413
    assert "lamp.md has 1.0\xa0KB; a file has at most 1.0\xa0KB" in large.content.decode()
    stranger = Client().post("/work/ENG/files", {"op_id": "put-0006"})
    assert stranger["Location"].startswith(str(settings.LOGIN_URL))


@pytest.mark.covers("TRK-40")
def test_a_file_is_read_beside_the_page_and_what_is_none_is_not_guessed(
    ana: Client, cast: Cast
) -> None:
    """The beginning of a text, the picture of a picture, of the rest the facts."""
    create(cast.ana, "Lamp", project="ENG")
    texts = {"short.md": b"# Lamp <b>", "long.txt": b"lamp " * 4000, "data.bin": b"\x00\xff" * 9}
    for name, content in texts.items():
        attach(ana, name, content, key=f"peek-{name}")
    attach(ana, "lamp.png", PNG, key="peek-png", comment="")
    Attachment.objects.filter(name="lamp.png").update(content_type="image/png")
    act(cast.swe, "write_project_file", project="ENG", path="plans/lamp.md", content="# Plan")
    ids = {row.name: str(row.pk) for row in Attachment.objects.all()}

    def peek(ident: str) -> str:
        answer = ana.get(f"/ui/peek/file/{ident}")
        assert answer.status_code == 200, answer.content[:300]
        return answer.content.decode()

    short = peek(ids["short.md"])
    assert "# Lamp &lt;b&gt;" in short
    assert 'href="/work/ENG-1"' in short
    assert "the beginning of it" not in short
    assert "This is the beginning of it." in peek(ids["long.txt"])
    assert "nothing of it to show" in peek(ids["data.bin"])
    assert f'src="/files/{ids["lamp.png"]}?preview=1"' in peek(ids["lamp.png"])
    plan = peek(str(ProjectFile.objects.get().pk))
    assert "# Plan" in plan and 'href="/work/ENG/files"' in plan
    listed = ana.get("/work/ENG/files").content.decode()
    assert f'data-peek="file:{ProjectFile.objects.get().pk}"' in listed
    act(cast.ana, "remove_attachment", item="ENG-1", attachment=ids["short.md"])
    assert ana.get(f"/ui/peek/file/{ids['short.md']}").status_code == 404
    assert ana.get("/ui/peek/file/nonsense").status_code == 404
