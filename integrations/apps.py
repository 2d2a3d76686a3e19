"""What stands outside the company, as a Django app."""

from __future__ import annotations

from django.apps import AppConfig


class IntegrationsConfig(AppConfig):
    """Plugs servers of tools and vendors into what stands below."""

    name = "integrations"
    label = "integrations"

    def ready(self) -> None:
        """Registers the app's sources, actions and parts."""
        from integrations.registrations import register

        register()
