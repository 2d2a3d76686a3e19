"""The facts of a file are told whenever it reads as a company, whatever this version refuses."""

from __future__ import annotations

from orgs.document.summary import facts
from orgs.document.validation import validate_text

QUICKSTART = """\
name: Lantern Lab
providers:
  llm:
    default: {type: anthropic, model: m, api_keys: ["${ANTHROPIC_API_KEY}"]}
    sub: {type: cli-agent, model: s, cli: {agent: x}}
  embeddings: {type: openai, api_key: "${OPENAI_API_KEY}"}
mcp_servers:
  - {name: search, shared: true, command: x}
  - {name: chat, env: {URL: "${CHAT_URL}"}}
workers: {digger: {}, writer: {}}
roles:
  - name: Your Name
    handle: founder
    kind: human
    manages: [ceo, Nobody Here]
    contact: {mattermost_user_id: "${FOUNDER}"}
  - name: CEO
    handle: ceo
    schedules: [{name: pulse, cron: "0 9 * * 1-5", task: Look around}]
units:
  - name: Product
    id: pm-team
    lead: pm
    roles: [{name: PM, handle: pm}]
    children:
      - name: Devs
        schedules:
          - {name: standup, cron: "30 9 * * *", task: Tell}
          - {name: report, cron: "0 16 * * 5", task: Sum up, target: lead}
        roles: [{name: Dev}, {name: Helper, kind: human}, {name: Dev}]
"""


def test_a_file_with_parts_of_later_versions_still_tells_its_facts() -> None:
    reading = validate_text(QUICKSTART)
    assert facts(reading) == {
        "name": "Lantern Lab",
        "seats": 6,
        "agents": 4,
        "humans": 2,
        "units": 2,
        "handles": ["founder", "ceo", "pm", "dev", "helper", "dev"],
        "duplicate_handles": ["dev"],
        "unit_leads": {"pm-team": "pm", "devs": "pm"},
        "schedules": [
            {"scope": "seat:ceo", "name": "pulse", "cron": "0 9 * * 1-5", "target": None,
             "runners": ["ceo"]},
            {"scope": "unit:devs", "name": "standup", "cron": "30 9 * * *", "target": "each",
             "runners": ["dev"]},
            {"scope": "unit:devs", "name": "report", "cron": "0 16 * * 5", "target": "lead",
             "runners": ["pm"]},
        ],
        "mcp_servers": {"search": True, "chat": False},
        "llm_providers": {"default": "anthropic", "sub": "cli-agent"},
        "workers": ["digger", "writer"],
        "dangling_manages": ["Nobody Here"],
        "referenced_variables": ["ANTHROPIC_API_KEY", "CHAT_URL", "FOUNDER", "OPENAI_API_KEY"],
        "unsupported": [
            "workers",
            "providers.embeddings",
            "providers.llm.sub.cli",
            "roles[1].schedules",
        ],
    }  # fmt: skip


def test_leads_and_managers_may_be_named_by_name_where_no_handle_is_written() -> None:
    told = facts(
        validate_text(
            "name: Old\nunits: [{name: Core, lead: Tech Lead, roles: [{name: Tech Lead, "
            "manages: [Junior Dev]}, {name: Junior Dev}]}]\n"
        )
    )
    assert told is not None
    assert told["unit_leads"] == {"core": "tech-lead"}
    assert told["dangling_manages"] == []
    assert told["unsupported"] == []


def test_what_does_not_read_as_a_company_has_no_facts() -> None:
    assert facts(validate_text("- a\n- b\n")) is None
    assert facts(validate_text("a: [\n")) is None
    partial = facts(validate_text("units: [{name: Core, roles: [{name: A}]}]\n"))
    assert partial is not None
    assert (partial["name"], partial["handles"]) == (None, ["a"])
