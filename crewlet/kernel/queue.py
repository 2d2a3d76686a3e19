"""The Celery app. It carries wakes and ticks: hints that may be lost, late or doubled.

Nothing here keeps anything safe. Mail is a row in Postgres; a task only says "look". That is why
tasks acknowledge early, results are ignored, and no ETA is ever used (a delay is a column).
Importing this module needs Django's settings, not its apps, so that any process may send by name.
"""

from __future__ import annotations

from typing import Any, Final

from celery import Celery
from django.conf import settings

RUN_SEAT: Final = "agents.run_seat"
TICK: Final = "agents.tick"
DUTY_QUEUE: Final = "duty"
TICK_SECONDS: Final = 10.0

SENDER_SOCKET_SECONDS: Final = 0.25
"""How long a web process waits for a frozen broker before it gives a wake up."""
WORKER_SOCKET_SECONDS: Final = 5.0
"""A worker blocks one second in BRPOP, so it must wait longer than that for an answer."""


def seat_queue(seat_id: object) -> str:
    """Returns the name of the queue that the holder of a seat consumes."""
    return f"seat.{seat_id}"


def node_queue(node_id: str) -> str:
    """Returns the queue that a seat worker always consumes; nothing is sent to it."""
    return f"node.{node_id}"


def transport_options(socket_seconds: float) -> dict[str, Any]:
    """Returns options under which a dead broker refuses at once and a frozen one soon.

    `priority_steps` of one keeps thousands of queues cheap: four steps would quadruple the keys
    of every blocking read.
    """
    return {
        "priority_steps": [0],
        "global_keyprefix": f"{settings.CREWLET.redis_prefix}:queue:",
        "max_retries": 0,
        "interval_start": 0,
        "interval_step": 0,
        "interval_max": 0,
        "socket_timeout": socket_seconds,
        "socket_connect_timeout": socket_seconds,
    }


def _build() -> Celery:
    built = Celery("crewlet", set_as_current=True)
    built.conf.update(
        broker_url=settings.CREWLET.broker_url,
        broker_transport_options=transport_options(SENDER_SOCKET_SECONDS),
        broker_connection_retry=True,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        task_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,
        task_store_errors_even_if_ignored=False,
        task_acks_late=False,
        task_publish_retry=False,
        task_create_missing_queues=True,
        task_default_queue=DUTY_QUEUE,
        worker_prefetch_multiplier=1,
        worker_disable_prefetch=True,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        worker_redirect_stdouts=False,
        worker_hijack_root_logger=False,
        worker_send_task_events=False,
        worker_enable_remote_control=False,
        event_queue_expires=60,
        timezone="UTC",
        enable_utc=True,
        beat_scheduler="django_celery_beat.schedulers:DatabaseScheduler",
        beat_schedule={
            "tick": {
                "task": TICK,
                "schedule": TICK_SECONDS,
                "options": {"queue": DUTY_QUEUE, "expires": TICK_SECONDS},
            },
        },
    )
    built.set_default()
    return built


app: Celery = _build()
