"""Logs: one line an event through structlog, for a person (`console`) or a collector (`json`)."""

from __future__ import annotations

import sys
from typing import Any

import structlog

# The caller's context (turn, seat, request) rides in contextvars, so library lines carry it too.
_SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.PositionalArgumentsFormatter(),
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
]


def logging_config(*, level: str, fmt: str) -> dict[str, Any]:
    """Returns Django's LOGGING and points structlog at the same output. `fmt`: console | json."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_SHARED,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": [*_SHARED, structlog.stdlib.ExtraAdder()],
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    *_renderers(fmt),
                ],
            },
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django": {"handlers": [], "level": level, "propagate": True},
            "django.server": {"handlers": [], "level": level, "propagate": True},
            # One line a request is the proxy's business, one a statement is nobody's.
            "uvicorn.access": {"handlers": [], "level": "WARNING", "propagate": True},
            "django.db.backends": {"level": "INFO"},
            "httpx": {"level": "WARNING"},
            # A line for every queue and every tick tells nobody anything.
            "celery.worker.consumer": {"level": "WARNING"},
            "celery.worker.strategy": {"level": "WARNING"},
            "celery.app.trace": {"level": "WARNING"},
            "celery.beat": {"level": "WARNING"},
            "django_celery_beat": {"level": "WARNING"},
        },
    }


def _renderers(fmt: str) -> list[Any]:
    # Never the values of a failing frame: they hold prompts, tokens and keys.
    if fmt == "json":
        bare = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
        return [
            structlog.processors.ExceptionRenderer(bare),
            structlog.processors.JSONRenderer(default=str),
        ]
    return [
        structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(),
            pad_event_to=0,
            exception_formatter=structlog.dev.plain_traceback,
        )
    ]
