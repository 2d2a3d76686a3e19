"""What the needs stand on: a bakery with a model behind HTTP, hosts of this process, a founder."""

from __future__ import annotations

from tests.agents.dispatch.conftest import make_host
from tests.agents.pages.conftest import founder
from tests.agents.turn.conftest import bare_stage, model_server, stage
from tests.api.conftest import ana
from tests.tracker.conftest import cast, company

__all__ = [
    "ana",
    "bare_stage",
    "cast",
    "company",
    "founder",
    "make_host",
    "model_server",
    "stage",
]
