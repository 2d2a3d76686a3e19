"""Routes of the tracker. They parse, call a query or an action, and answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from agents.queries.turns import turns_of_item
from crewlet.doors.rest import ActAnswer, ErrorAnswer, ReadView, act_response, actor_of, json_body
from crewlet.kernel import clock
from crewlet.kernel.errors import Invalid
from orgs import epochs
from tracker import wording
from tracker.actions.arguments import CommentOnWorkItem, CreateWorkItem, UpdateWorkItem
from tracker.api import shapes
from tracker.api.parameters import FILTER_WORDS
from tracker.dates import shown
from tracker.filters import KEYS, Sort, parse_filters
from tracker.models.items import WorkItem
from tracker.queries import asks as ask_queries
from tracker.queries import pages
from tracker.queries import projects as project_queries
from tracker.queries.conditions import Asker
from tracker.queries.detail import (
    changes_of,
    children_of,
    comments_of,
    text_of,
    watchers_of,
    whole_item,
)
from tracker.queries.groups import Column
from tracker.queries.history import KINDS, before_of, project_history
from tracker.queries.listing import Listing, listing
from tracker.queries.mine import my_work
from tracker.queries.rows import item_row
from tracker.queries.tags import tags_by_project

_ERRORS: dict[Any, Any] = {"4XX": OpenApiResponse(ErrorAnswer)}
_KEY = OpenApiParameter("Idempotency-Key", OpenApiTypes.STR, OpenApiParameter.HEADER, required=True)
_IF_MATCH = OpenApiParameter("If-Match", OpenApiTypes.STR, OpenApiParameter.HEADER)
_DIRECTORY = [
    OpenApiParameter(key, OpenApiTypes.STR, description=words)
    for key, words in project_queries.WORDS.items()
]
_FILTERS = [
    OpenApiParameter(key, OpenApiTypes.STR, description=FILTER_WORDS.get(key, "")) for key in KEYS
]


def _shapes(found: Iterable[WorkItem]) -> list[dict[str, Any]]:
    snapshot = epochs.active()
    today = clock.now().astimezone(snapshot.timezone).date()
    answers = []
    for item in found:
        row = item_row(item, snapshot.timezone, today)
        assignee, reporter = row["assignee"], row["reporter"]
        names = (
            "key", "id", "url", "title", "project", "status", "priority", "parent", "overdue",
            "comments", "version", "created_at", "updated_at", "finished_at",
            "removed_at",
        )  # fmt: skip
        answers.append(
            {name: row[name] for name in names}
            | {
                "labels": row["tags"],
                "status_group": row["group"],
                "assignee": assignee["handle"] if assignee else None,
                "assignee_name": assignee["name"] if assignee else None,
                "reporter": reporter["handle"],
                "reporter_name": reporter["name"],
                "due": shown(item.due_at, all_day=item.due_all_day, zone=snapshot.timezone),
            }
        )
    return answers


def _listed(found: Listing, sort: Sort) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "items": _shapes(found.page.rows),
        "next_cursor": found.page.next_cursor or None,
        "total": found.page.total,
    }
    if found.totals:
        answer["totals"] = found.totals
    if found.around is not None:
        place = found.around
        answer["around"] = {
            "position": place.position,
            "previous": place.previous or None,
            "next": place.next or None,
        }
    if found.groups is not None:
        answer["groups"] = [_column(column, sort) for column in found.groups.columns]
        answer["overlap"] = found.groups.overlap
        if found.groups.lanes:
            answer["lanes"] = [
                {"value": lane.value, "label": lane.label,
                 "groups": [_column(column, sort) for column in lane.columns]}
                for lane in found.groups.lanes
            ]  # fmt: skip
    return answer


def _column(column: Column, sort: Sort) -> dict[str, Any]:
    return {
        "value": column.value,
        "label": column.label,
        "total": column.total,
        "next_cursor": column.next_cursor(sort) or None,
        "items": _shapes(column.rows),
    }


class WorkView(ReadView):
    """Work items."""

    @extend_schema(
        tags=["work"],
        parameters=_FILTERS,
        responses={200: shapes.ItemListShape, **_ERRORS},
    )
    def get(self, request: Request) -> Response:
        """Lists items. An unknown filter or value is refused by name."""
        given = {key: ",".join(request.query_params.getlist(key)) for key in request.query_params}
        given.pop("format", None)
        asker = Asker.now(actor_of(request), epochs.active())
        filters = parse_filters(given)
        return Response(_listed(listing(filters, asker), filters.sort))

    @extend_schema(
        tags=["work"],
        parameters=[_KEY],
        request=CreateWorkItem,
        responses={201: ActAnswer, **_ERRORS},
    )
    def post(self, request: Request) -> Response:
        """Files an item."""
        return act_response(request, "create_work_item", json_body(request), status=201)


class ItemView(ReadView):
    """One work item."""

    @extend_schema(tags=["work"], responses={200: shapes.ItemDetailShape, **_ERRORS})
    def get(self, request: Request, key: str) -> Response:
        """Shows an item, by a key it has or had or by its id."""
        actor, item = actor_of(request), whole_item(key)
        open_asks = ask_queries.asks().filter(item=item, answered_at=None)
        (row,) = _shapes([item])
        return Response(
            {
                "item": row,
                "body": text_of(item),
                "parts": _shapes(children_of(item)),
                "asks": ask_queries.cards(open_asks.order_by("created_at", "id"), actor),
                "comments": [wording.comment_data(comment) for comment in comments_of(item)],
                "history": [wording.change_data(change) for change in changes_of(item)],
                "turns": turns_of_item(actor, item.key),
                "watchers": [watcher["handle"] for watcher in watchers_of(item)],
                "spend": {
                    "turns": item.turns,
                    "tokens_in": item.tokens_in,
                    "tokens_out": item.tokens_out,
                },
                "agent_wakes_stopped": item.wakes_stopped_at is not None,
            }
        )

    @extend_schema(
        tags=["work"],
        parameters=[_KEY, _IF_MATCH],
        request=UpdateWorkItem,
        responses={200: ActAnswer, **_ERRORS},
    )
    def patch(self, request: Request, key: str) -> Response:
        """Changes the fields that are sent; `If-Match` is the version they were edited from."""
        args = {**json_body(request), "item": key}
        stated = request.headers.get("If-Match", "").strip().removeprefix("W/").strip('"')
        if stated:
            if not stated.isdecimal():
                raise Invalid("If-Match is the item's version, a number.", field="If-Match")
            args["if_match"] = int(stated)
        return act_response(request, "update_work_item", args)

    @extend_schema(
        tags=["work"],
        parameters=[_KEY, OpenApiParameter("subtree", OpenApiTypes.BOOL)],
        responses={200: ActAnswer, **_ERRORS},
    )
    def delete(self, request: Request, key: str) -> Response:
        """Takes an item out of sight, with `subtree` together with its parts."""
        args = {"item": key, "subtree": request.query_params.get("subtree", False)}
        return act_response(request, "remove_work_item", args)


class RestoreView(ReadView):
    """The way back for what was removed."""

    @extend_schema(
        tags=["work"], parameters=[_KEY], request=None, responses={200: ActAnswer, **_ERRORS}
    )
    def post(self, request: Request, key: str) -> Response:
        """Brings a removed item back with everything that was removed together with it."""
        return act_response(request, "restore_work_item", {"item": key})


class CommentsView(ReadView):
    """The talk on an item."""

    @extend_schema(tags=["work"], responses={200: shapes.CommentListShape, **_ERRORS})
    def get(self, request: Request, key: str) -> Response:
        """Lists the newest comments of an item, oldest first."""
        comments = comments_of(whole_item(key))
        return Response({"comments": [wording.comment_data(comment) for comment in comments]})

    @extend_schema(
        tags=["work"],
        parameters=[_KEY],
        request=CommentOnWorkItem,
        responses={201: ActAnswer, **_ERRORS},
    )
    def post(self, request: Request, key: str) -> Response:
        """Says something on an item: a comment, an ask or an answer."""
        args = {**json_body(request), "item": key}
        return act_response(request, "comment_on_work_item", args, status=201)


class ProjectsView(ReadView):
    """Projects."""

    @extend_schema(
        tags=["work"],
        parameters=_DIRECTORY,
        responses={200: shapes.ProjectListShape, **_ERRORS},
    )
    def get(self, request: Request) -> Response:
        """Lists the projects with their counts, archived ones when asked for."""
        found = project_queries.directory(actor_of(request), request.query_params.dict())
        rows = [_project_shape(row) for row in found.rows]
        return Response({"projects": rows, "total": len(rows), "census": found.census})


class ProjectView(ReadView):
    """One project."""

    @extend_schema(tags=["work"], responses={200: shapes.ProjectWithTagsShape, **_ERRORS})
    def get(self, request: Request, key: str) -> Response:
        """Shows a project with its counts and tags."""
        found = _project_shape(project_queries.project(actor_of(request), key))
        return Response(found | {"tags": tags_by_project([found["key"]]).get(found["key"], [])})


class ProjectHistoryView(ReadView):
    """What happened in a project."""

    @extend_schema(
        tags=["work"],
        parameters=[
            OpenApiParameter("kind", str, enum=list(KINDS), description="show only these"),
            OpenApiParameter("before", int, description="`next` of the page before"),
        ],
        responses={200: shapes.ProjectHistoryShape, **_ERRORS},
    )
    def get(self, request: Request, key: str) -> Response:
        """Lists the writes in a project, newest first, 50 a page."""
        found = project_queries.project(actor_of(request), key)
        page = project_history(
            found["key"],
            request.query_params.get("kind", ""),
            before_of(request.query_params.get("before", "")),
        )
        return Response(
            {
                "changes": [
                    {
                        "id": row["id"],
                        "at": row["at"],
                        "actor": row["who"]["handle"],
                        "actor_name": row["who"]["name"],
                        "kind": row["kind"],
                        "item": row["key"] or None,
                        "text": row["text"],
                        "reason": row["reason"],
                    }
                    for row in page.rows
                ],
                "next": page.next or None,
            }
        )


class MyWorkView(ReadView):
    """The caller's own work."""

    @extend_schema(tags=["work"], responses={200: shapes.MyWorkShape, **_ERRORS})
    def get(self, request: Request) -> Response:
        """Shows what is on the caller, in sections with full counts."""
        actor = actor_of(request)
        answer: dict[str, Any] = {}
        for name, section in my_work(actor).items():
            if name in {"asked_of_me", "asked_by_me"}:
                rows = pages.cards_of(section["rows"], actor)
                answer[name] = {"asks": rows, "total": section["total"]}
            else:
                answer[name] = {"items": _shapes(section["rows"]), "total": section["total"]}
        return Response(answer)


def _project_shape(row: dict[str, Any]) -> dict[str, Any]:
    names = (
        "key", "name", "purpose", "unit", "url", "counts", "left", "archived", "last_change",
    )  # fmt: skip
    return {name: row[name] for name in names} | {
        name: row[name]["handle"] if row[name] else None for name in ("lead", "default_assignee")
    }
