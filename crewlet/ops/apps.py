"""The operator's app: servers, supervision, health, metrics."""

from __future__ import annotations

from django.apps import AppConfig


class OpsConfig(AppConfig):
    """Names the app; what it checks is registered by others."""

    name = "crewlet.ops"
    label = "ops"
