"""The pages of the organization."""

from __future__ import annotations

from django.urls import include, path

from orgs.views import inbox, parties

urlpatterns = [
    path("", include("orgs.people.urls")),
    path("inbox", inbox.inbox, name="inbox"),
    path("ui/inbox/list", inbox.inbox_list, name="ui-inbox-list"),
    path("ui/inbox/pane", inbox.inbox_pane, name="ui-inbox-pane"),
    path("ui/parties", parties.parties, name="ui-parties"),
]
