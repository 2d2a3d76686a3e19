"""Stored files as a Django app."""

from __future__ import annotations

from django.apps import AppConfig


class FilesConfig(AppConfig):
    """Keeps the bytes of files outside the database; rows of other apps name them by key."""

    name = "crewlet.files"
    label = "files"
