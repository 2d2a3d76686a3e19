"""Other systems the company works with, one closed block each."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from orgs.document.fields import Line, Section
from orgs.document.parts import Secret

Prefix = Annotated[str, Field(max_length=64)]


class Surface(StrEnum):
    """A system outside."""

    JIRA = "jira"
    CONFLUENCE = "confluence"
    SLACK = "slack"
    MATTERMOST = "mattermost"
    GITHUB = "github"
    GITLAB = "gitlab"
    DATADOG = "datadog"


class Delivery(StrEnum):
    """How news of a system comes in."""

    WEBHOOK = "webhook"
    SOCKET = "socket"
    POLL = "poll"


class WorkingStatus(StrEnum):
    """When a chat shows that an agent is at work."""

    OFF = "off"
    ADDRESSED = "addressed"
    ALWAYS = "always"


class Atlassian(Section):
    """Jira or Confluence."""

    url: Line | None = None
    """The address of its API."""
    site_url: Line | None = None
    """The address people use."""
    cloud_id: Line | None = None
    """Its id in the vendor's cloud."""
    email: Line | None = None
    """The account the token belongs to."""
    token: Secret | None = None
    """The account's token."""
    webhook_secret: Secret | None = None
    """What its webhooks are signed with."""


class StatusPhrases(Section):
    """What a chat shows while an agent works."""

    onboarding: tuple[Line, ...] = ()
    """In its first turn."""
    execute: tuple[Line, ...] = ()
    """While it works."""
    review: tuple[Line, ...] = ()
    """While it reviews."""
    default: tuple[Line, ...] = ()
    """At any other time."""


class Slack(Section):
    """Slack."""

    enabled: bool = True
    """Off keeps it written and does nothing."""
    typing_status: WorkingStatus = WorkingStatus.ADDRESSED
    """When work is shown."""
    status_phrases: StatusPhrases | None = None
    """How it is shown."""


class MattermostProvisioning(Section):
    """Bots that are made for the seats."""

    username_prefix: Prefix = ""
    """Before each name."""
    channels: tuple[Line, ...] = ()
    """Channels they join."""
    display_name_suffix: Prefix = ""
    """Behind each display name."""


class Mattermost(Section):
    """Mattermost."""

    enabled: bool = False
    """Whether it is in use."""
    url: Line | None = None
    """Its address."""
    team: Line | None = None
    """Its team."""
    typing_status: WorkingStatus = WorkingStatus.OFF
    """When work is shown."""
    provisioning: MattermostProvisioning | None = None
    """Bots for the seats."""


class GitHub(Section):
    """GitHub."""

    enabled: bool = False
    """Whether it is in use."""
    url: Line | None = None
    """Its address, when it is not github.com."""
    webhook_secret: Secret | None = None
    """What its webhooks are signed with."""


class GroupWebhook(StrEnum):
    """Whether one webhook serves the whole group."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class GitLabProvisioning(Section):
    """Accounts that are made for the seats."""

    group: Line | None = None
    """The group they belong to."""
    access_level: Line = "developer"
    """What they may do."""
    access_levels: dict[Annotated[str, Field(min_length=1)], Line] = Field(default_factory=dict)
    """The same by handle."""
    username_prefix: Prefix = ""
    """Before each name."""
    projects: tuple[Line, ...] = ()
    """Projects they join."""
    group_webhook: GroupWebhook = GroupWebhook.AUTO
    """Whether one webhook serves the group."""
    token_scopes: tuple[Line, ...] = ()
    """What their tokens may do."""


class GitLab(Section):
    """GitLab."""

    enabled: bool = False
    """Whether it is in use."""
    url: Line | None = None
    """Its address."""
    signing_secret: Secret | None = None
    """What its webhooks are signed with."""
    token: Secret | None = None
    """The engine's own token."""
    provisioning: GitLabProvisioning | None = None
    """Accounts for the seats."""


class Datadog(Section):
    """Datadog."""

    enabled: bool = False
    """Whether it is in use."""
    site: Line | None = None
    """Its site."""
    api_key: Secret | None = None
    """The key to its API."""
    app_key: Secret | None = None
    """The key of the application."""
    webhook_secret: Secret | None = None
    """What its webhooks carry."""
    fallback: Line | None = None
    """The agent seat that gets alerts nobody owns, by handle; or `none`."""


class Integrations(Section):
    """The systems outside."""

    public_base_url: Line | None = None
    """The address under which they reach this company."""
    forge_app_id: Line | None = None
    """The id of the app in Atlassian's cloud."""
    jira: Atlassian | None = None
    """Work in Jira."""
    confluence: Atlassian | None = None
    """Pages in Confluence."""
    slack: Slack | None = None
    """Chat in Slack."""
    mattermost: Mattermost | None = None
    """Chat in Mattermost."""
    github: GitHub | None = None
    """Code at GitHub."""
    gitlab: GitLab | None = None
    """Code at GitLab."""
    datadog: Datadog | None = None
    """Alerts of Datadog."""
    transports: dict[Surface, Delivery] = Field(default_factory=dict)
    """How news of a system comes in, where it can come in several ways."""


class SlackSeat(Section):
    """A seat's app in Slack."""

    bot_token: Secret | None = None
    """The bot's token; with `signing_secret`."""
    signing_secret: Secret | None = None
    """What Slack signs with; with `bot_token`."""
    channel: Line | None = None
    """The channel it speaks in on its own."""


class MattermostSeat(Section):
    """A seat's bot in Mattermost."""

    bot_token: Secret | None = None
    """The bot's token."""
    username: Line | None = None
    """The bot's name."""
    channel: Line | None = None
    """The channel it speaks in on its own."""


class GitHubSeat(Section):
    """A seat's app at GitHub."""

    app_id: Line | None = None
    """The app's id."""
    installation_id: Line | None = None
    """Where the app is installed."""
    private_key: Secret | None = None
    """The app's key."""
    webhook_secret: Secret | None = None
    """What its webhooks are signed with."""


class SeatIntegrations(Section):
    """A seat's own accounts outside."""

    slack: SlackSeat | None = None
    """In Slack."""
    mattermost: MattermostSeat | None = None
    """In Mattermost."""
    github: GitHubSeat | None = None
    """At GitHub."""
