"""The organization as a Django app."""

from __future__ import annotations

from importlib import import_module

from django.apps import AppConfig


class OrgsConfig(AppConfig):
    """Owns the company document, units, seats, people, notices and the inbox."""

    name = "orgs"
    label = "orgs"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        import_module("orgs.registrations").register()
