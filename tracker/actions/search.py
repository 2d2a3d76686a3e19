"""`search_work_items`: items by words, ranked."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from crewlet.kernel.actions import Door, Result, action
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from tracker.actions.arguments import Markdown, WorkArgs
from tracker.queries.search import found_items

LIMIT = 8


class SearchWorkItems(WorkArgs):
    """What to look for."""

    q: Markdown = Field(description="Words; any of them may match. At most 400 bytes.")
    mode: Literal["keyword"] = "keyword"
    limit: Annotated[int, Field(ge=1, le=50)] = LIMIT


@action(
    "search_work_items",
    args=SearchWorkItems,
    doors={Door.TOOL, Door.MCP, Door.REST},
    grant=Grant.STATE_READ,
    reads=True,
    label="Searched for {q}",
)
def search_work_items(actor: Actor, args: SearchWorkItems, target: None) -> Result:
    """Find work items by words in their title, text and comments, best match first. Any of the
    words may match; there is no query language. Search before you file something that may be there
    already; the answer says whether the search was whole.
    """
    found = found_items(actor, args.q, args.limit)
    lines = [
        f"- {row['key']} {row['title']} [{row['status']}]\n  {row['snippet']}".rstrip()
        for row in found["items"]
    ]
    head = [found["note"]] if found["note"] else [f"{len(lines)} items, best match first."]
    refs = tuple(f"item:{row['key']}" for row in found["items"])
    return Result("\n".join([*head, *lines]), refs, found)
