"""Addresses of work. A project's key has no number, an item's has."""

from __future__ import annotations

from django.urls import path, re_path

from tracker.views import files, history, me, pages, projects, search, trash

_PROJECT = r"(?P<project>[A-Za-z][A-Za-z0-9]{0,11})"
_ITEM = r"(?P<key>[A-Za-z][A-Za-z0-9]*-\d+)"
_PART = r"(?P<part>head|asks|activity|fields|subs|files)"
urlpatterns = [
    path("work", pages.work, name="work"),
    path("work/new", pages.new_item, name="new-item"),
    path("work/search", search.search_page, name="work-search"),
    path("work/projects", projects.projects, name="projects"),
    path("work/trash", trash.trash, name="trash"),
    re_path(rf"^work/{_ITEM}$", pages.item, name="item"),
    re_path(rf"^work/{_PROJECT}$", pages.work, name="project"),
    path("files/<uuid:ident>", files.download, name="file"),
    re_path(rf"^work/{_ITEM}/attachments$", files.attach, name="attach"),
    re_path(rf"^work/{_PROJECT}/files$", files.project_page, name="project-files"),
    re_path(rf"^ui/work/{_PROJECT}/files$", files.project_files, name="ui-project-files"),
    path("me", me.me, name="me"),
    path("me/<slug:section>", me.me, name="me-section"),
    path("ui/me", me.me_region, name="ui-me"),
    path("ui/me/<slug:section>", me.me_region, name="ui-me-section"),
    path("ui/work", pages.work_region, name="ui-work"),
    path("ui/work/projects", projects.projects_region, name="ui-projects"),
    re_path(rf"^work/{_PROJECT}/overview$", projects.overview, name="project-overview"),
    re_path(
        rf"^ui/work/{_PROJECT}/overview$", projects.overview_region, name="ui-project-overview"
    ),
    re_path(rf"^work/{_PROJECT}/history$", history.history, name="project-history"),
    re_path(rf"^ui/work/{_PROJECT}/history$", history.history_region, name="ui-project-history"),
    path("ui/find", pages.find, name="ui-find"),
    path("ui/work/trash", trash.trash_region, name="ui-trash"),
    re_path(rf"^ui/items/{_ITEM}/{_PART}$", pages.item_part, name="ui-item-part"),
    re_path(rf"^ui/work/{_PROJECT}$", pages.work_region, name="ui-project"),
]
