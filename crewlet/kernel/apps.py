"""The ground floor as a Django app."""

from __future__ import annotations

from django.apps import AppConfig


class KernelConfig(AppConfig):
    """Owns operations, audit, events and the drain mark."""

    name = "crewlet.kernel"
    label = "kernel"
    default_auto_field = "django.db.models.BigAutoField"
