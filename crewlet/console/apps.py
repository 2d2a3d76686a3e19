"""The frame of the site as a Django app."""

from __future__ import annotations

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    """Owns navigation, home, palette, settings and the error pages; knows no other app."""

    name = "crewlet.console"
    label = "console"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Registers the rows that belong to the frame itself."""
        from crewlet.console.registrations import register

        register()
