"""Search as a Django app."""

from __future__ import annotations

from django.apps import AppConfig


class SearchConfig(AppConfig):
    """Keeps one index of words for every kind of text that can be found."""

    name = "crewlet.search"
    label = "search"
    default_auto_field = "django.db.models.BigAutoField"
