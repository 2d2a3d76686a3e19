"""What turns were charged to items, one row a stretch of a turn."""

from __future__ import annotations

from django.db import models

from crewlet.kernel.ids import new_id


class TurnCharge(models.Model):
    """One charge of one stretch of a turn to an item. `op_id` makes it land once."""

    id = models.UUIDField(primary_key=True, default=new_id)
    op_id = models.CharField(max_length=200, unique=True)
    item = models.ForeignKey("tracker.WorkItem", on_delete=models.CASCADE, related_name="charges")
    turn_id = models.UUIDField()
    seat = models.ForeignKey("orgs.Seat", on_delete=models.PROTECT, related_name="+")
    tokens_in = models.BigIntegerField()
    tokens_out = models.BigIntegerField()
    calls = models.IntegerField()
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["item", "turn_id"], name="charge_item_turn")]
