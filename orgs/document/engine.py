"""How turns go: ceilings of rounds, handing on, learning, the clockwork of schedules."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from orgs.document.fields import Section
from orgs.document.parts import Zone

Count = Annotated[int, Field(ge=1, le=100_000)]
Whole = Annotated[int, Field(ge=0, le=1_000_000)]
Share = Annotated[float, Field(gt=0, le=1)]


class Delegation(Section):
    """How far a turn may hand on to workers."""

    max_parallel: Count = 3
    """Workers at once."""
    max_tasks_per_call: Count = 8
    """Parts in one call."""
    max_turns: Count = 20
    """Rounds of a worker."""
    max_turns_ceiling: Count = 40
    """The most a worker may be given."""
    budget_fraction: Share = 0.2
    """Share of the turn's tokens that workers may spend, above 0 and up to 1."""
    min_tokens_per_task: Count = 500
    """The least a worker begins with."""
    task_timeout_seconds: Count = 300
    """How long one worker may take."""
    call_timeout_seconds: Count = 900
    """How long the whole call may take."""


class ConversationSession(Section):
    """What a seat keeps of a conversation between its turns."""

    enabled: bool = True
    """Whether anything is kept."""
    max_entries: Count = 20
    """How many exchanges."""
    retention_days: Count = 30
    """For how long."""


class TurnEngine(Section):
    """Ceilings of a turn."""

    max_iterations: Count = 3
    """Rounds of work and review."""
    max_tool_rounds: Count = 24
    """Rounds of tools in one pass of work."""
    execute_max_tool_rounds_ceiling: Count = 48
    """The most that extension may reach."""
    onboarding_max_tool_rounds: Whole = 10
    """Rounds of a seat's first turn; 0 has none."""
    onboarding_max_tool_rounds_ceiling: Whole = 20
    """The most that onboarding may reach."""
    extension_enabled: bool = True
    """Whether rounds may be added while there is progress."""
    extension_round_step: Count = 8
    """How many are added at a time."""
    delegation_depth_limit: Count = 3
    """How deep asks between seats may go."""
    sandbox_min_budget_tokens: Whole = 2000
    """The least a coding run begins with."""
    delegation: Delegation | None = None
    """Handing on to workers."""
    conversation_session: ConversationSession | None = None
    """Memory between the turns of a conversation."""


class Episodic(Section):
    """Recall of earlier turns."""

    retrieval_limit: Whole = 5
    """How many are shown."""


class Reflect(Section):
    """Looking back after a turn."""

    enabled: bool = True
    """Whether it happens."""
    persist_decider: bool = True
    """Whether a small call decides what is worth keeping."""
    budget_tokens: Count = 5000
    """What one look may cost."""
    summarize_episodes: bool = True
    """Whether turns are summed up."""
    summarize_max_tokens: Count = 400
    """How long a summary may be."""


class Counterparty(Section):
    """Notes on whom a seat works with."""

    enabled: bool = True
    """Whether they are kept."""
    budget_tokens: Count = 3000
    """What one note may cost."""


class SkillSynthesis(Section):
    """Making skills of turns that went well."""

    enabled: bool = True
    """Whether it happens."""
    min_tool_calls: Count = 5
    """The least calls a turn must have."""
    budget_tokens: Count = 4000
    """What one skill may cost."""
    max_skills_per_agent: Count = 50
    """The most a seat keeps."""
    duplicate_jaccard_threshold: Share = 0.7
    """From which likeness two are one."""
    scheduler_enabled: bool = False
    """Whether it also runs by the clock."""
    scheduler_interval_seconds: Count = 3600
    """How often."""
    cluster_window_hours: Count = 168
    """How far back."""
    cluster_min_size: Count = 3
    """The least turns alike."""
    cluster_jaccard_threshold: Share = 0.6
    """From which likeness."""
    episode_fetch_limit: Count = 200
    """The most turns read."""


class SkillRefinement(Section):
    """Making skills better by use."""

    enabled: bool = True
    """Whether it happens."""
    auto_refine_on_success: bool = True
    """After a success."""
    auto_refine_on_failure: bool = True
    """After a failure."""
    budget_tokens: Count = 3000
    """What one refinement may cost."""
    max_body_chars: Count = 20_000
    """How long a skill may grow."""
    max_versions_kept: Count = 10
    """How many versions stay."""


class SkillPromotion(Section):
    """Sharing a skill among seats."""

    enabled: bool = True
    """Whether it happens."""
    min_sibling_count: Count = 3
    """The least seats that found it."""
    jaccard_threshold: Share = 0.6
    """From which likeness."""
    budget_tokens: Count = 4000
    """What it may cost."""


class SkillCurator(Section):
    """Setting unused skills aside."""

    enabled: bool = True
    """Whether it happens."""
    interval_hours: Count = 24
    """How often."""
    stale_after_days: Count = 30
    """When a skill counts as stale."""
    archive_after_days: Count = 90
    """When it is set aside."""


class PersonalMemory(Section):
    """A seat's own memory."""

    max_refreshes_per_turn: Whole = 3
    """How often a turn may read it anew."""


class EpisodeLifecycle(Section):
    """How long what happened is kept."""

    max_raw_episodes_per_agent: Count = 500
    """Kept as they are."""
    write_check_every_n: Count = 10
    """Writes between two checks."""
    non_terminal_max_age_days: Whole = 14
    """Unfinished ones."""
    consolidated_grace_days: Whole = 30
    """Ones that became a summary."""
    compaction_min_age_days: Whole = 30
    """When they may be put together."""
    compaction_min_cluster_size: Count = 3
    """The least to put together."""
    compaction_jaccard_threshold: Share = 0.6
    """From which likeness."""
    compaction_batch_size: Count = 200
    """How many at a time."""
    compaction_budget_tokens: Count = 4000
    """What it may cost."""
    exemplar_count: Count = 2
    """How many are kept whole."""
    compacted_max_age_days: Whole = 0
    """How long the result is kept; 0 for ever."""


class Learning(Section):
    """What seats learn from their work."""

    enabled: bool = True
    """Whether they do."""
    episodic: Episodic | None = None
    """Recall of earlier turns."""
    reflect: Reflect | None = None
    """Looking back."""
    counterparty: Counterparty | None = None
    """Notes on others."""
    skill_synthesis: SkillSynthesis | None = None
    """Making skills."""
    skill_refinement: SkillRefinement | None = None
    """Making them better."""
    skill_promotion: SkillPromotion | None = None
    """Sharing them."""
    skill_curator: SkillCurator | None = None
    """Setting them aside."""
    personal_memory: PersonalMemory | None = None
    """A seat's memory."""
    episode_lifecycle: EpisodeLifecycle | None = None
    """How long things are kept."""


class Scheduling(Section):
    """The clockwork of schedules."""

    enabled: bool = True
    """Off disarms every schedule."""
    tick_seconds: Annotated[int, Field(ge=1, le=3600)] = 10
    """How often the clock is read."""
    default_timezone: Zone | None = None
    """The clock of schedules that name none; without it the company's."""
    jitter_seconds: Annotated[int, Field(ge=0, le=3600)] = 0
    """Spreads runs that fall together."""
    catchup_min_seconds: Annotated[int, Field(ge=0, le=604_800)] = 120
    """The shortest time a missed run is made up for."""
    catchup_max_seconds: Annotated[int, Field(ge=0, le=604_800)] = 7200
    """The longest."""
