"""The runtime as a Django app."""

from __future__ import annotations

from django.apps import AppConfig


class AgentsConfig(AppConfig):
    """Owns mail, leases, turns, models and memory."""

    name = "agents"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from agents.registrations import register

        register()
