"""The doors open last: nothing registers after them."""

from __future__ import annotations

from django.apps import AppConfig

from crewlet.kernel.registry import freeze_all


class DoorsConfig(AppConfig):
    """Stands last in `INSTALLED_APPS` and freezes the registries."""

    name = "crewlet.doors"
    label = "doors"

    def ready(self) -> None:
        freeze_all()
