"""How a person likes to read, and what they starred. Theirs alone: nobody else sees either."""

from __future__ import annotations

from django.db import models

from crewlet.kernel.ids import new_id


class Preference(models.Model):
    """A person's way of reading. An empty choice follows the browser, or the company's clock."""

    person = models.OneToOneField(
        "orgs.Person", primary_key=True, on_delete=models.CASCADE, related_name="preference"
    )
    theme = models.CharField(max_length=8, blank=True)
    density = models.CharField(max_length=8, blank=True)
    timezone = models.CharField(max_length=64, blank=True)
    date_style = models.CharField(max_length=8, blank=True)
    single_keys = models.BooleanField(default=True)


class Star(models.Model):
    """A thing that a person keeps at hand, by its reference (`item:ENG-4`)."""

    id = models.UUIDField(primary_key=True, default=new_id)
    person = models.ForeignKey("orgs.Person", on_delete=models.CASCADE, related_name="stars")
    ref = models.CharField(max_length=160)
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "ref"], name="star_once")]
