"""Assembly of a Celery process: Django, the tasks, and the worker's own parts.

`celery -A crewlet.celery worker` starts here. The app itself stands in `crewlet.kernel.queue`, so
that what only sends a wake needs none of this.
"""

from __future__ import annotations

import os
import warnings

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crewlet.settings")
django.setup()

from agents.dispatch import worker  # noqa: E402
from crewlet.kernel.queue import app  # noqa: E402

# In a container everything is root; the pickle that the warning is about is switched off.
warnings.filterwarnings("ignore", message="You're running the worker with superuser")

app.autodiscover_tasks(["agents.dispatch"])
worker.install(app)

__all__ = ["app"]
