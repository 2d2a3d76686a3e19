"""Every page over the sample company: it draws, its parts are its fragments, its words hold."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from django.db import OperationalError
from django.http import HttpResponse
from django.test import RequestFactory

from crewlet.console.middleware import PageErrors, refusal
from crewlet.kernel.errors import Forbidden, NotFound, Unauthenticated
from tests.console import samples
from tests.console.conftest import ANA, Draw, open_page

TURN = f"/live/turns/{samples.TURN_ID}"
PAGES = (
    "/", "/inbox", "/agents", "/agents/seats/kofi", "/live", TURN, "/work", "/work/ENG",
    "/work?shape=board", "/work/projects", "/work/ENG-142", "/work/new",
    "/settings/you", "/settings/general", "/kit",
)  # fmt: skip
_NOISE = re.compile(
    r'name="(?:csrfmiddlewaretoken|op_id)" value="[^"]*"|data-secs="\d+"|>\d+:\d\d<|\s+'
)


class Outline(HTMLParser):
    """Collects ids, headings and the live regions of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.h1 = 0
        self.live: dict[str, str] = {}
        self.mains = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if found.get("id"):
            self.ids.append(str(found["id"]))
        self.h1 += tag == "h1"
        self.mains += tag == "main"
        if found.get("data-live") and found.get("data-src"):
            self.live[str(found["id"])] = str(found["data-src"])


@pytest.mark.parametrize("path", PAGES)
def test_a_page_draws_with_one_heading_unique_ids_and_no_inline_code(draw: Draw, path: str) -> None:
    response = draw(path)
    html = response.content.decode()
    outline = Outline(html)
    assert response.status_code == 200
    assert response["Cache-Control"] == "no-store"
    assert outline.h1 == 1
    assert outline.mains == 1
    twice = {ident for ident in outline.ids if outline.ids.count(ident) > 1}
    assert not twice, f"{path} draws {twice} twice; morph pairs by id."
    assert " style=" not in html
    assert "<script>" not in html


@pytest.mark.parametrize("path", PAGES)
def test_every_live_region_of_a_page_equals_its_fragment(draw: Draw, path: str) -> None:
    html = draw(path).content.decode()
    for ident, source in Outline(html).live.items():
        answer = draw(source)
        assert answer.status_code == 200, source
        part = _NOISE.sub(" ", answer.content.decode()).strip()
        assert f'id="{ident}"' in part.split(">", 1)[0], f"{source} does not answer #{ident} itself"
        assert part in _NOISE.sub(" ", html), f"{source} differs from what {path} draws"


def test_an_unchanged_fragment_is_not_sent_again(draw: Draw) -> None:
    first = draw("/ui/agents/strip")
    again = draw("/ui/agents/strip", **{"if-none-match": first["ETag"]})
    assert again.status_code == 304
    assert not again.content


def test_a_stranger_is_sent_to_sign_in_and_back(draw: Draw) -> None:
    response = draw("/work/ENG-142?show=turns", None)
    assert response.status_code == 302
    assert response["Location"] == "/sign-in?next=%2Fwork%2FENG-142%3Fshow%3Dturns"
    with pytest.raises(Unauthenticated):
        draw("/ui/agents/strip", None)


def test_the_sidebar_marks_where_the_reader_is(draw: Draw) -> None:
    html = draw("/agents/seats/kofi").content.decode().split("<main")[0]
    assert re.findall(r'href="([^"]+)" aria-current="page"', html) == ["/agents"]
    html = draw("/").content.decode()
    assert re.findall(r'href="([^"]+)" aria-current="page"', html) == ["/"]


@pytest.mark.covers("UI-3")
def test_a_figure_that_is_unknown_is_absent(draw: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    from orgs.views import panels

    assert "3 waiting" in draw("/agents").content.decode()
    monkeypatch.setattr(panels, "badge", lambda actor: None)
    assert "waiting</span>" not in draw("/agents").content.decode()


def test_home_says_one_sentence_of_fact(draw: Draw) -> None:
    html = draw("/").content.decode()
    assert "One decision waits for you." in html
    assert "Four agents are working. Two wait on a person and two are stopped." in html
    assert "41 items are open." in html


def test_a_decision_is_answered_in_place_by_one_form(draw: Draw) -> None:
    html = draw("/work/ENG-142").content.decode()
    assert html.count('name="choice"') == 3
    assert 'value="a" required data-option="1" checked' in html
    assert "Kofi Mensah recommends" in html
    assert 'action="/act/comment_on_work_item"' in html


def test_what_is_written_on_an_item_is_inert(draw: Draw) -> None:
    html = draw("/work/ENG-142").content.decode()
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)" in html


def test_the_timeline_shows_one_kind_on_wish(draw: Draw) -> None:
    everything = draw("/work/ENG-142").content.decode()
    comments = draw("/work/ENG-142?show=comments").content.decode()
    assert 'id="a-x1"' in everything
    assert 'id="a-x1"' not in comments
    assert 'id="a-x4"' in comments


def test_a_filter_is_a_chip_with_a_way_off(draw: Draw) -> None:
    html = draw("/work?status=todo&assignee=kofi&q=drift").content.decode()
    assert html.count('class="fchip"') == 3
    assert 'href="/work?shape=list&amp;assignee=kofi&amp;q=drift"' in html
    assert "Clear" in html


def test_the_board_offers_every_move_without_dragging(draw: Draw) -> None:
    html = draw("/work/ENG").content.decode()
    assert html.count('data-lane="') == 4
    assert html.count('data-move="in_review"') == 1, "one menu serves every card"
    assert html.count('popovertarget="card-menu"') == len(samples.board_items())
    assert html.count('data-version="3"') == len(samples.board_items())


def test_the_rehearsal_banner_stands_on_every_page(
    draw: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:
    from zoneinfo import ZoneInfo

    from crewlet.console import frame, registries

    assert "Rehearsal." not in draw("/live").content.decode()
    company = registries.Company("Fernhill", ZoneInfo("UTC"), rehearsal=True)
    monkeypatch.setattr(frame.Frame, "company", company)
    for path in PAGES:
        assert "Rehearsal." in draw(path).content.decode(), path


def _error_page(error: Exception, path: str = "/work/ENG-9", **headers: str) -> HttpResponse:
    request = RequestFactory().get(path, headers=headers)
    request.actor = ANA  # type: ignore[attr-defined]
    answer = PageErrors(lambda _: HttpResponse()).process_exception(request, error)
    assert answer is not None
    return answer


def test_a_lost_database_is_said_without_asking_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer = _error_page(OperationalError("gone"))
    assert answer.status_code == 503
    assert answer["Retry-After"]
    assert b"The database is away" in answer.content
    part = _error_page(OperationalError("gone"), "/ui/live/now")
    assert b"Try again" in part.content
    assert b"<html" not in part.content


def test_other_doors_answer_their_own_errors() -> None:
    request = RequestFactory().get("/api/v1/agents")
    middleware = PageErrors(lambda _: HttpResponse())
    assert middleware.process_exception(request, NotFound("no")) is None
    assert middleware.process_exception(RequestFactory().get("/"), KeyError("bug")) is None


def test_a_refusal_names_what_and_who_may(draw: Draw) -> None:
    request = RequestFactory().get("/settings")
    request.actor = ANA  # type: ignore[attr-defined]
    answer = refusal(request, Forbidden("You may not read this.", grants=["config:read"]))
    assert answer.status_code == 403
    assert b"You may not read this." in answer.content
    assert b"config:read" in answer.content
    gone = refusal(request, NotFound("There is no item ENG-9."))
    assert gone.status_code == 404
    assert b"There is no item ENG-9." in gone.content


def test_the_palette_answers_by_scope_and_by_prefix(draw: Draw) -> None:
    everything = draw("/ui/palette?q=ed").content.decode()
    assert "/agents/seats/edith" in everything
    assert "/work/ENG-151" in everything
    agents = draw("/ui/palette?q=@ed").content.decode()
    assert "/agents/seats/edith" in agents
    assert "/work/ENG-151" not in agents
    assert "Nothing matches" in draw("/ui/palette?q=@zzz").content.decode()


def test_a_mention_is_completed_from_the_chart(draw: Draw) -> None:
    html = draw("/ui/parties?q=ko").content.decode()
    assert re.findall(r'data-value="([^"]+)"', html) == ["@kofi"]


def test_an_unknown_part_is_not_found(draw: Draw) -> None:
    from django.http import Http404

    with pytest.raises(Http404):
        open_page(f"/ui/turns/{samples.TURN_ID}/nothing")
    with pytest.raises(Http404):
        draw("/ui/home/nothing")


def test_who_cannot_be_checked_is_not_sent_to_sign_in() -> None:
    from django.shortcuts import render

    from crewlet.kernel.errors import Unavailable

    request = RequestFactory().get("/work?q=lamp")
    error = Unavailable("The database does not answer.")
    html = render(request, "orgs/sign_in_refused.html", {"error": error}).content.decode()
    assert "Crewlet cannot answer right now" in html
    assert 'href="/work?q=lamp"' in html
    assert "/sign-in" not in html
