"""The journal: a turn, its phases, rounds and calls. Written by `agents.turn.journal` alone."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from crewlet.kernel.ids import new_id


class Stage(models.TextChoices):
    """Where a turn stands.

    | stage | means | left to |
    |---|---|---|
    | context | opened, its prompts are being built | phase, parked, done |
    | phase | a phase runs | phase, parked, done |
    | parked | waits on a budget, a provider or a person, at most until `wake_at` | phase, done |
    | done | ended, `outcome` says how | nothing |
    """

    CONTEXT = "context", "Context"
    PHASE = "phase", "Phase"
    PARKED = "parked", "Parked"
    DONE = "done", "Done"


class TurnOutcome(models.TextChoices):
    """How a turn ended."""

    COMPLETED = "completed", "Completed"
    FAILED = "failed", "Failed"
    SKIPPED = "skipped", "Skipped"
    STOPPED = "stopped", "Stopped"


class Turn(models.Model):
    """One execution of a seat. It keeps the text of what it answers, which outlives the mail."""

    id = models.UUIDField(primary_key=True, default=new_id)
    seat = models.ForeignKey("orgs.Seat", on_delete=models.PROTECT, related_name="turns")
    work_key = models.CharField(max_length=80)
    reply_kind = models.CharField(max_length=8)
    reply_surface = models.CharField(max_length=40, blank=True)
    trigger = models.JSONField()
    constituents = models.JSONField(default=list)
    batch_key = models.CharField(max_length=200)
    conversation = models.CharField(max_length=200)
    work_item = models.JSONField(null=True)  # {backend, id, key, project, basis}
    work_item_key = models.CharField(max_length=40, blank=True)
    epoch = models.BigIntegerField()
    depth = models.IntegerField(default=0)
    chain = models.JSONField(default=list)
    parent_turn = models.UUIDField(null=True)
    agent_caused = models.BooleanField(default=False)
    node = models.CharField(max_length=120, blank=True)
    lease_epoch = models.BigIntegerField()
    attempt = models.IntegerField(default=1)
    node_lost = models.IntegerField(default=0)
    stage = models.CharField(max_length=8, choices=Stage.choices, default=Stage.CONTEXT)
    phase = models.CharField(max_length=12, blank=True)
    iteration = models.IntegerField(default=1)
    correction = models.TextField(blank=True)
    park_reason = models.CharField(max_length=16, blank=True)
    park_detail = models.JSONField(default=dict)
    wake_at = models.DateTimeField(null=True)
    submitted = models.CharField(max_length=12, blank=True)
    decision = models.CharField(max_length=16, blank=True)
    outcome = models.CharField(max_length=10, choices=TurnOutcome.choices, blank=True)
    error_kind = models.CharField(max_length=32, blank=True)
    error = models.TextField(blank=True)
    stopped_by = models.CharField(max_length=128, blank=True)
    result = models.TextField(blank=True)
    tokens_in = models.BigIntegerField(default=0)
    tokens_out = models.BigIntegerField(default=0)
    calls = models.IntegerField(default=0)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    worked_ms = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["seat"],
                condition=models.Q(stage__in=["context", "phase"]),
                name="turn_one_running_per_seat",
            ),
            models.CheckConstraint(
                condition=models.Q(reply_kind__in=["none", "tool", "engine"]),
                name="turn_reply_kind",
            ),
        ]
        indexes = [
            models.Index(fields=["seat", "-started_at"], name="turn_seat_started"),
            models.Index(fields=["-started_at", "-id"], name="turn_started"),
            models.Index(fields=["work_key"], name="turn_work_key"),
            models.Index(fields=["work_item_key", "-started_at"], name="turn_item_started"),
            models.Index(
                fields=["stage", "wake_at"],
                name="turn_open",
                condition=~models.Q(stage="done"),
            ),
        ]


class Segment(models.Model):
    """One stretch of a turn between parks; also what makes its charge to an item land once."""

    id = models.UUIDField(primary_key=True, default=new_id)
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="segments")
    kind = models.CharField(max_length=10)  # dispatch, resume
    launch_id = models.CharField(max_length=40, blank=True)
    node = models.CharField(max_length=120, blank=True)
    started_at = models.DateTimeField()
    ms = models.BigIntegerField(default=0)
    tokens_in = models.BigIntegerField(default=0)
    tokens_out = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["turn", "kind", "launch_id"], name="segment_once")
        ]


class Phase(models.Model):
    """One phase of one iteration, with the very prompts the model was given."""

    id = models.UUIDField(primary_key=True, default=new_id)
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="phases")
    phase = models.CharField(max_length=12)  # execute, review, judge
    iteration = models.IntegerField()
    status = models.CharField(max_length=10, default="running")  # running, done, failed
    provider_key = models.CharField(max_length=64, blank=True)
    model = models.CharField(max_length=128, blank=True)
    system = models.TextField()
    system_outline = models.JSONField(default=list)
    user = models.TextField()
    user_outline = models.JSONField(default=list)
    tools = models.JSONField(default=list)
    max_rounds = models.IntegerField()
    # Of a judge: how many rounds the pass had used that it was asked about.
    host_round = models.IntegerField(default=0, db_default=0)
    round_ceiling = models.IntegerField(default=0, db_default=0)
    declined = models.IntegerField(default=0)
    rescued = models.BooleanField(default=False)
    error_kind = models.CharField(max_length=32, blank=True)
    error = models.TextField(blank=True)
    submission = models.JSONField(null=True)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["turn", "phase", "iteration", "host_round"], name="phase_once"
            )
        ]


class Round(models.Model):
    """One model call: its answer, byte for byte as the vendor sent it."""

    id = models.UUIDField(primary_key=True, default=new_id)
    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="rounds")
    n = models.IntegerField()
    started_at = models.DateTimeField()
    ms = models.IntegerField()
    stop_reason = models.CharField(max_length=20)
    model = models.CharField(max_length=128, blank=True)
    provider_key = models.CharField(max_length=64, blank=True)
    tokens_in = models.IntegerField(default=0)
    tokens_out = models.IntegerField(default=0)
    cache_read = models.IntegerField(null=True)
    cache_write = models.IntegerField(null=True)
    reasoning = models.TextField(blank=True)
    content = models.TextField(blank=True)
    declined = models.BooleanField(default=False)
    # What people told the model before this round, as it read it.
    heard = models.TextField(blank=True, default="", db_default="")
    note = models.TextField(blank=True)  # what the engine told the model after this round
    # Whether the conversation had nearly filled the model's context.
    full_context = models.BooleanField(default=False, db_default=False)
    answer = models.TextField()  # Answer.to_json(): exact

    class Meta:
        constraints = [models.UniqueConstraint(fields=["phase", "n"], name="round_once")]


class ToolCall(models.Model):
    """One call of a round. `running` rides in the answer's commit, before any effect."""

    id = models.UUIDField(primary_key=True, default=new_id)
    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="calls")
    ord = models.IntegerField()
    call_id = models.CharField(max_length=128)
    name = models.CharField(max_length=128)
    args = models.JSONField(null=True)
    args_text = models.TextField(blank=True)
    origin = models.CharField(max_length=16, default="builtin")
    server = models.CharField(max_length=64, blank=True)
    read_only = models.CharField(max_length=8, default="unknown")
    surface = models.CharField(max_length=40, blank=True)
    op_id = models.CharField(max_length=200, blank=True)
    status = models.CharField(max_length=10, default="running")  # running, done
    ok = models.BooleanField(null=True)
    result = models.TextField(blank=True)
    refs = ArrayField(models.CharField(max_length=120), default=list)
    started_at = models.DateTimeField(null=True)
    ms = models.IntegerField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["round", "ord"], name="tool_call_once")]


class IterationRecord(models.Model):
    """What one pass of a turn claimed and got: the prior-work ledger is built from these."""

    id = models.UUIDField(primary_key=True, default=new_id)
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="iterations")
    n = models.IntegerField()
    intent = models.TextField(blank=True)
    outcome = models.CharField(max_length=12)
    calls = models.JSONField(default=list)
    artifact = models.TextField(blank=True)
    artifact_hash = models.CharField(max_length=64, blank=True)
    decision = models.CharField(max_length=16, blank=True)
    notes = models.TextField(blank=True)
    completed_work = models.TextField(blank=True)
    engine_correction = models.TextField(blank=True)
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["turn", "n"], name="iteration_once")]


class SteerNote(models.Model):
    """A note to a running turn, read at its next round."""

    id = models.UUIDField(primary_key=True, default=new_id)
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="notes")
    request_id = models.CharField(max_length=200)
    note = models.CharField(max_length=2000)
    by = models.CharField(max_length=128)
    at = models.DateTimeField()
    state = models.CharField(max_length=10, default="unread")  # unread, delivered, expired
    phase = models.CharField(max_length=12, blank=True)
    iteration = models.IntegerField(null=True)
    round = models.IntegerField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["turn", "request_id"], name="note_once")]


class WaitState(models.TextChoices):
    """Where a wait for a person stands.

    | state | means | left to |
    |---|---|---|
    | open | nobody has answered | answered, taken (too late), closed |
    | answered | a person has; the turn is to be taken up | taken, closed |
    | taken | the turn goes on with it; what was approved may have begun | nothing |
    | closed | the turn ended before it was needed | nothing |
    """

    OPEN = "open", "Open"
    ANSWERED = "answered", "Answered"
    TAKEN = "taken", "Taken"
    CLOSED = "closed", "Closed"


class Suspension(models.Model):
    """The one call of a turn that hangs until a person has spoken.

    kind: `answer` (a question to `asked`) or `approval` (the call itself needs leave). The turn's
    rows hold everything else that a resume needs.
    """

    id = models.UUIDField(primary_key=True, default=new_id)
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="suspensions")
    call = models.OneToOneField(ToolCall, on_delete=models.CASCADE, related_name="suspension")
    kind = models.CharField(max_length=10)
    tool = models.CharField(max_length=128)
    question = models.TextField()
    options = models.JSONField(default=list)  # words to choose from, for a question
    args_text = models.TextField(blank=True)  # the exact arguments, for an approval
    asked = models.ForeignKey(
        "orgs.Seat", null=True, on_delete=models.PROTECT, related_name="+"
    )  # whose inbox it is in; null: whoever operates
    state = models.CharField(max_length=10, choices=WaitState.choices, default=WaitState.OPEN)
    opened_at = models.DateTimeField()
    until = models.DateTimeField()
    decision = models.CharField(max_length=10, blank=True)  # answer, approve, edit, deny
    words = models.TextField(blank=True)  # the answer, or why it was denied
    edited_text = models.TextField(blank=True)  # the arguments that replace the exact ones
    by = models.CharField(max_length=128, blank=True)
    decided_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["turn"],
                condition=models.Q(state__in=["open", "answered"]),
                name="suspension_one_a_turn",
            )
        ]
        indexes = [
            models.Index(
                fields=["asked", "opened_at"],
                name="suspension_open",
                condition=models.Q(state="open"),
            )
        ]


class StopRequest(models.Model):
    """A person's wish that a turn ends at its next fence."""

    turn = models.OneToOneField(
        Turn, primary_key=True, on_delete=models.CASCADE, related_name="stop_request"
    )
    by = models.CharField(max_length=128)
    reason = models.CharField(max_length=500, blank=True)
    at = models.DateTimeField()
