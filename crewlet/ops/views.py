"""`/health` and `/ready` for probes and balancers, open to all; `/metrics` for a credential."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from crewlet.ops import metrics as series
from crewlet.ops.health import look

RETRY_SECONDS = "5"


@require_safe
@never_cache
def health(_request: HttpRequest) -> JsonResponse:
    """Answers 200 while the process lives, whatever else is down: a failover must not kill web."""
    return JsonResponse(look().body)


@require_safe
@never_cache
def ready(_request: HttpRequest) -> JsonResponse:
    """Answers 200, or 503 with the reason: draining, database, unmigrated, unconfigured, stuck."""
    reason = look().reason
    if reason is None:
        return JsonResponse({"ready": True})
    return JsonResponse(
        {"ready": False, "reason": reason}, status=503, headers={"Retry-After": RETRY_SECONDS}
    )


@require_safe
@never_cache
def metrics(_request: HttpRequest) -> HttpResponse:
    """Answers every registered series in Prometheus' text form."""
    return HttpResponse(series.exposition(), content_type=series.CONTENT_TYPE)
