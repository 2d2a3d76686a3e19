"""What the runtime's routes answer, for the OpenAPI schema."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class SeatTurnShape(serializers.Serializer[Any]):
    """The open turn of a seat."""

    turn_id = serializers.UUIDField()
    work_item = serializers.CharField(allow_null=True)
    work_item_basis = serializers.CharField(allow_null=True)
    title = serializers.CharField()
    started_at = serializers.DateTimeField()
    stage = serializers.ChoiceField(choices=["context", "phase", "parked"])
    node = serializers.CharField()


class LastTurnShape(serializers.Serializer[Any]):
    """The newest ended turn of a seat."""

    turn_id = serializers.UUIDField()
    ended_at = serializers.DateTimeField()
    outcome = serializers.CharField()
    work_item = serializers.CharField(allow_null=True)
    title = serializers.CharField()


class AgentShape(serializers.Serializer[Any]):
    """A seat as it is now. Every key is always there; absent is null."""

    handle = serializers.CharField()
    name = serializers.CharField()
    role = serializers.CharField(allow_blank=True)
    unit = serializers.CharField(allow_null=True)
    kind = serializers.ChoiceField(choices=["agent", "human"])
    activity = serializers.ChoiceField(choices=["working", "needs", "stopped", "idle", "person"])
    stopped_reason = serializers.CharField(allow_null=True)
    turn = SeatTurnShape(allow_null=True)
    last_turn = LastTurnShape(allow_null=True)
    last_error = serializers.CharField(allow_null=True)
    paused = serializers.DictField(allow_null=True)
    current_phase = serializers.CharField(allow_null=True)
    round = serializers.IntegerField(allow_null=True)
    max_rounds = serializers.IntegerField(allow_null=True)
    iteration = serializers.IntegerField(allow_null=True)
    word = serializers.CharField()
    reason = serializers.CharField(allow_blank=True)
    key = serializers.CharField(allow_blank=True, help_text="the item it is about, or was last")
    what = serializers.CharField(allow_blank=True, help_text="that item's title, in words")
    secs = serializers.IntegerField(allow_null=True, help_text="since when it is so")
    pct = serializers.IntegerField(allow_null=True, help_text="rounds taken of those allowed")
    url = serializers.CharField()


class AgentsShape(serializers.Serializer[Any]):
    """Every seat."""

    agents = AgentShape(many=True)


class AgentDetailShape(serializers.Serializer[Any]):
    """One seat with its charter, mail, budgets and figures."""

    seat = AgentShape()
    about = serializers.DictField()
    waiting = serializers.IntegerField()
    waiting_rows = serializers.ListField(child=serializers.DictField())
    budget = serializers.ListField(child=serializers.DictField())
    stats = serializers.DictField()


class TurnShape(serializers.Serializer[Any]):
    """A turn as a list shows it."""

    id = serializers.UUIDField()
    seat = serializers.CharField(help_text="the handle")
    seat_name = serializers.CharField()
    work_item = serializers.CharField(allow_null=True)
    work_item_basis = serializers.CharField(allow_null=True)
    work_key = serializers.CharField()
    conversation = serializers.CharField()
    title = serializers.CharField()
    summary = serializers.CharField(allow_blank=True)
    stage = serializers.ChoiceField(choices=["context", "phase", "parked", "done"])
    phase = serializers.CharField(allow_blank=True)
    iteration = serializers.IntegerField()
    round = serializers.IntegerField(allow_null=True)
    rounds = serializers.IntegerField()
    attempt = serializers.IntegerField()
    outcome = serializers.CharField(allow_null=True)
    decision = serializers.CharField(allow_blank=True)
    submitted = serializers.CharField(allow_blank=True)
    park_reason = serializers.CharField(allow_blank=True)
    wake_at = serializers.DateTimeField(allow_null=True)
    error_kind = serializers.CharField(allow_blank=True)
    error = serializers.CharField(allow_blank=True)
    started_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    secs = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    calls = serializers.IntegerField()
    node = serializers.CharField(allow_blank=True)


class TurnsShape(serializers.Serializer[Any]):
    """A page of turns, newest first."""

    turns = TurnShape(many=True)
    next_cursor = serializers.CharField(allow_null=True)
    total = serializers.IntegerField()


class TurnDetailShape(serializers.Serializer[Any]):
    """One turn in full."""

    turn = TurnShape()
    trigger = serializers.DictField()
    result = serializers.CharField(allow_blank=True)
    node_lost = serializers.IntegerField()
    notes = serializers.ListField(child=serializers.DictField())
    waits = serializers.ListField(child=serializers.DictField())
    attempts = serializers.ListField(child=serializers.DictField())
    phases = serializers.ListField(child=serializers.DictField())
    events = serializers.ListField(child=serializers.DictField())


class EventShape(serializers.Serializer[Any]):
    """An event as a list shows it."""

    id = serializers.UUIDField()
    at = serializers.DateTimeField()
    type = serializers.CharField()
    category = serializers.CharField()
    actor = serializers.CharField(allow_blank=True)
    seat_id = serializers.UUIDField(allow_null=True)
    turn_id = serializers.UUIDField(allow_null=True)
    work_key = serializers.CharField(allow_blank=True)
    trace_id = serializers.CharField(allow_blank=True)
    text = serializers.CharField()
    failed = serializers.BooleanField()
    url = serializers.CharField(allow_blank=True)


class EventDetailShape(EventShape):
    """One event with its payload."""

    payload = serializers.DictField()


class EventsShape(serializers.Serializer[Any]):
    """A page of events, newest first."""

    events = EventShape(many=True)
    next_cursor = serializers.CharField(allow_null=True)


class BudgetsShape(serializers.Serializer[Any]):
    """Every scope with its day, week and month."""

    durable = serializers.BooleanField()
    near_fraction = serializers.FloatField()
    tz = serializers.CharField()
    scopes = serializers.ListField(child=serializers.DictField())


class SnapshotShape(serializers.Serializer[Any]):
    """What a socket's first frame holds."""

    seq = serializers.IntegerField()
    boot_id = serializers.CharField(allow_blank=True)
    data = serializers.DictField()  # type: ignore[assignment]  # a field, not the answer
