"""Tags of projects: declared, put on items, renamed, archived."""

from __future__ import annotations

import pytest

from crewlet.kernel.errors import Conflict, Forbidden, Invalid
from tests.tracker.company import act, create, update
from tests.tracker.conftest import Cast
from tracker.filters import parse_filters
from tracker.models.history import Change
from tracker.models.tags import Tag
from tracker.queries.conditions import Asker
from tracker.queries.items import filtered
from tracker.queries.pages import item_page, work_page


def _tags(key: str = "ENG") -> dict[str, str]:
    found = Tag.objects.filter(project__key=key, archived_at=None)
    return dict(found.order_by("created_at", "id").values_list("slug", "label"))


def _keys(cast: Cast, tag: str) -> list[str]:
    asker = Asker.now(cast.ana, cast.snapshot)
    found = filtered(parse_filters({"tag": tag}), asker)
    return sorted(found.values_list("key", flat=True))


@pytest.mark.covers("TRK-18")
def test_a_label_that_nobody_declared_is_refused_with_the_nearest(cast: Cast) -> None:
    act(cast.swe, "write_project", project="ENG", tags_add=[{"label": "Billing"}])
    with pytest.raises(Invalid, match="Did you mean billing") as refusal:
        create(cast.swe, "One", project="ENG", labels=["biling"])
    assert refusal.value.detail["allowed"] == ["billing"]
    assert "labels_create_missing=true" in refusal.value.message
    item = create(cast.swe, "One", project="ENG", labels=["BILLING "])
    assert item.tags == ["billing"]
    with pytest.raises(Invalid, match="has no tag 'billing'"):
        create(cast.swe, "Elsewhere", project="OPS", labels=["billing"])


@pytest.mark.covers("TRK-18")
def test_missing_labels_are_declared_when_asked_for_and_a_near_one_warns(cast: Cast) -> None:
    first = act(
        cast.swe, "create_work_item", title="One", project="ENG",
        labels="Billing, Night  shift", labels_create_missing=True,
    )  # fmt: skip
    assert first.data["labels_created"] == ["billing", "night-shift"]
    assert "New tags: billing, night-shift." in first.message
    assert "looks like" not in first.message
    again = act(
        cast.swe, "create_work_item", title="Two", project="ENG",
        labels=["night SHIFT", "Biling", "bilings"], labels_create_missing=True,
    )  # fmt: skip
    assert again.data["labels"] == ["night-shift", "biling", "bilings"]
    assert "'Biling' looks like 'Billing'" in again.message
    assert _tags() == {
        "billing": "Billing", "night-shift": "Night shift", "biling": "Biling",
        "bilings": "bilings",
    }  # fmt: skip


@pytest.mark.covers("TRK-18", "TRK-43")
def test_labels_of_an_item_are_replaced_and_its_history_says_so(cast: Cast) -> None:
    item = create(cast.ana, "One", project="ENG", labels=["a", "b"], labels_create_missing=True)
    result = update(cast.swe, item, labels=["b", "c"], labels_create_missing=True)
    assert item.tags == ["b", "c"]
    assert result.data["labels_created"] == ["c"]
    assert "labels a, b -> b, c" in result.message
    change = Change.objects.filter(item=item).order_by("-seq")[0]
    assert change.fields == {"labels": {"from": ["a", "b"], "to": ["b", "c"]}}
    shown = item_page(cast.ana, item.key)["activity"][-1]
    assert shown["text"] == "set labels to b, c"
    before = item.version
    update(cast.swe, item, labels=["b", "c"])
    assert item.version == before
    update(cast.swe, item, labels=[])
    assert item.tags == []


@pytest.mark.covers("TRK-18")
def test_a_renamed_tag_keeps_its_slug_and_reads_anew_everywhere(cast: Cast) -> None:
    item = create(cast.ana, "One", project="ENG", labels=["Bug"], labels_create_missing=True)
    act(cast.cto, "write_project", project="ENG", tags_rename={"bug": "Defect"})
    item.refresh_from_db()
    assert item.tags == ["bug"]
    assert item_page(cast.ana, item.key)["item"]["labels"] == ["Defect"]
    (row,) = work_page(cast.ana, project="ENG")["items"]
    assert (row["labels"], row["tags"]) == (["Defect"], ["bug"])
    assert _keys(cast, "any:bug") == [item.key]
    assert create(cast.ana, "Two", project="ENG", labels=["defect"]).tags == ["bug"]
    act(cast.swe, "write_project", project="ENG", tags_add=[{"label": "Other"}])
    with pytest.raises(Conflict, match="'defect' is the label of bug"):
        act(cast.ana, "write_project", project="ENG", tags_rename={"other": "defect"})


@pytest.mark.covers("TRK-17", "TRK-18")
def test_an_archived_tag_stays_where_it_is_and_goes_on_no_other_item(cast: Cast) -> None:
    item = create(cast.ana, "One", project="ENG", labels=["Bug"], labels_create_missing=True)
    act(cast.ana, "write_project", project="ENG", tags_archive=["bug"])
    with pytest.raises(Invalid, match="archived tag"):
        create(cast.ana, "Two", project="ENG", labels=["bug"], labels_create_missing=True)
    update(cast.ana, item, labels=["bug", "new"], labels_create_missing=True)
    assert item.tags == ["bug", "new"]
    with pytest.raises(Invalid, match="archiving is for good"):
        act(cast.swe, "write_project", project="ENG", tags_add=[{"label": "BUG"}])


@pytest.mark.covers("TRK-18")
def test_any_seat_declares_and_only_the_lead_or_a_person_renames_and_archives(cast: Cast) -> None:
    act(cast["packer"], "write_project", project="ENG", tags_add=[{"label": "Wood"}])
    for sent in ({"tags_rename": {"wood": "Oak"}}, {"tags_archive": ["wood"]}):
        with pytest.raises(Forbidden, match="agent-cto"):
            act(cast.swe, "write_project", project="ENG", **sent)
    act(cast.cto, "write_project", project="ENG", tags_rename={"wood": "Oak"})
    assert _tags() == {"wood": "Oak"}


@pytest.mark.covers("TRK-18", "TRK-19")
def test_lists_take_any_all_and_none_of_some_tags(cast: Cast) -> None:
    for title, labels in (("A", ["x"]), ("B", ["x", "y"]), ("C", [])):
        create(cast.ana, title, project="ENG", labels=labels, labels_create_missing=True)
    assert _keys(cast, "any:x,y") == ["ENG-1", "ENG-2"]
    assert _keys(cast, "all:x,y") == ["ENG-2"]
    assert _keys(cast, "none:y") == ["ENG-1", "ENG-3"]


@pytest.mark.covers("TRK-18")
@pytest.mark.parametrize(
    "labels",
    [
        ["🤔", "設計", "设计", "🤔🤔"],
        ["C", "C++", "C#"],
        ["Café", "Cafe", "CAFÉ!"],
        ["con", "..", "/", "%"],
    ],
)
def test_every_label_gets_a_slug_of_its_own_by_which_it_is_found(
    cast: Cast, labels: list[str]
) -> None:
    """Case K04: signs, other scripts and equal slugs never fall together."""
    for number, label in enumerate(labels, 1):
        item = create(cast.ana, label, project="ENG", labels=[label], labels_create_missing=True)
        assert item.key == f"ENG-{number}"
    slugs = list(_tags())
    assert len(set(slugs)) == len(labels)
    assert sorted(_tags().values()) == sorted(labels)
    for number, slug in enumerate(slugs, 1):
        assert "/" not in slug and "." not in slug
        assert _keys(cast, f"any:{slug}") == [f"ENG-{number}"]
    act(cast.ana, "write_project", project="ENG", tags_rename={slugs[0]: "Another word"})
    assert list(_tags()) == slugs


@pytest.mark.covers("TRK-18")
def test_a_label_with_a_comma_and_a_slug_that_is_none_are_refused(cast: Cast) -> None:
    for tag, words in (({"label": "a, b"}, "no comma"), ({"label": "A", "slug": "A b"}, "'a-b'")):
        with pytest.raises(Invalid, match=words):
            act(cast.ana, "write_project", project="ENG", tags_add=[tag])
    act(cast.ana, "write_project", project="ENG", tags_add=[{"label": "A", "slug": "letter"}])
    assert _tags() == {"letter": "A"}
    with pytest.raises(Conflict, match="there already"):
        act(cast.ana, "write_project", project="ENG", tags_add=[{"label": "B", "slug": "letter"}])
