"""A company that uses every block of the document language."""

from __future__ import annotations

FULL = """\
name: Lantern Lab
notification_rate_limit: 10
skill_variables: {docs_url: "https://docs.example"}
providers:
  llm:
    main:
      type: anthropic
      model: m
      api_keys: ["${MODEL_KEY}"]
      cooldowns: {rate_limit_seconds: 60, auth_seconds: 30}
      reasoning: true
    desk:
      type: cli-agent
      model: haiku
      cli:
        agent: claude-code
        mode: agent
        run_in: direct
        state_dir: ./state
        env: {HOME: /tmp}
        auth: {mode: api-key, token: "${CLI_TOKEN}"}
        overrides: {flags: [--fast]}
  embeddings: {type: openai, model: e, api_key: "${E_KEY}", dimensions: 1536}
  sandbox:
    type: local
    local: {containment: container, image: i, runtime: podman, network: none, run_args: [--rm]}
    default_coding_agent: opencode
    setup:
      - {name: git, files: {/tmp/a: b}, commands: [ls], env: {A: b}, brief: c}
turn_engine:
  max_tool_rounds: 12
  execute_max_tool_rounds_ceiling: 24
  delegation: {max_parallel: 2, budget_fraction: 0.5}
  conversation_session: {enabled: true, max_entries: 5, retention_days: 3}
learning:
  reflect: {budget_tokens: 100}
  skill_synthesis: {scheduler_enabled: false}
scheduling: {tick_seconds: 5, default_timezone: Europe/Lisbon, jitter_seconds: 3}
workers:
  digger:
    description: Digs
    system_prompt: Dig.
    tools: [a]
    model: main
    max_turns: 10
    output: {type: object, properties: {found: {type: string}}}
tracker: {backend: jira}
knowledge: {backend: confluence, scope: [ENG], root_space: HQ, vectors: true}
integrations:
  public_base_url: "${URL}"
  jira: {url: "${J}", token: "${JT}", webhook_secret: "${JW}"}
  confluence: {url: "${C}"}
  slack: {typing_status: always, status_phrases: {review: [Reading]}}
  mattermost: {enabled: true, provisioning: {channels: [town]}}
  github: {enabled: true, webhook_secret: "${G}"}
  gitlab: {signing_secret: "${S}", provisioning: {access_levels: {dev: owner}}}
  datadog: {enabled: true, fallback: none}
  transports: {slack: socket}
mcp_servers:
  - {name: find, command: npx, args: [-y], env: {K: "${K}"}, tool_prefix: f_}
  - name: far
    transport: http
    shared: false
    url: https://far.example
    headers: {Authorization: "${H}"}
    tool_annotations: {look: {readOnlyHint: true}}
roles:
  - name: Ann
    handle: ann
    kind: human
    email: ann@lab.example
    availability: mornings
  - name: Chief
    handle: chief
    llm: {default: main, sandbox: desk}
    llm_sandbox: [desk]
    workers: [digger]
    learning_enabled: false
    sandbox: {enabled: true, run_in: self, mcp: {servers: [find]}, env: {T: "${T}"}}
    placement: {node: big, labels: {disk: fast}}
    integrations:
      slack: {bot_token: "${B}", signing_secret: "${BS}", channel: top}
      github: {app_id: "1", private_key: "${P}"}
    mcp_env: {far: {Authorization: "${A}"}}
    schedules:
      - {name: pulse, cron: "*/5 8-18 * jan,feb mon-fri", task: Look, catchup: false}
units:
  - name: Devs
    id: devs
    knowledge: [handbook]
    mcp_env: {find: {K: "${K}"}}
    schedules:
      - {name: standup, cron: "30 9 * * *", task: Say, target: lead, timezone: UTC}
    roles:
      - {name: Dev, handle: dev}
"""
