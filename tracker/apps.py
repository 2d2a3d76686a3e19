"""The tracker as a Django app."""

from __future__ import annotations

from django.apps import AppConfig


class TrackerConfig(AppConfig):
    """Plugs the tracker into what stands below it."""

    name = "tracker"
    label = "tracker"

    def ready(self) -> None:
        """Registers the tracker's actions, receivers and parts."""
        from tracker.registrations import register

        register()
