"""The pages of the organization."""

from __future__ import annotations

from django.urls import include, path

from orgs.views import inbox, parties, settings_config, settings_people, setup

urlpatterns = [
    path("", include("orgs.people.urls")),
    path("inbox", inbox.inbox, name="inbox"),
    path("ui/inbox/list", inbox.inbox_list, name="ui-inbox-list"),
    path("ui/inbox/pane", inbox.inbox_pane, name="ui-inbox-pane"),
    path("settings/people/invite", settings_people.invite, name="settings-invite"),
    path("settings/people/token", settings_people.make_token, name="settings-token"),
    path("settings/config/<uuid:revision_id>", settings_config.revision, name="settings-revision"),
    path("setup", setup.setup, name="setup"),
    path("setup/done", setup.done, name="setup-done"),
    path("ui/parties", parties.parties, name="ui-parties"),
]
