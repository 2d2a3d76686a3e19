"""The admin's content policy; every other page keeps the strict one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

Answer = HttpResponseBase | Awaitable[HttpResponseBase]
GetResponse = Callable[[HttpRequest], Answer]


class AdminContentPolicy:
    """Gives pages under /admin/ ADMIN_CONTENT_SECURITY_POLICY. Stands inside the CSP middleware."""

    async_capable = True
    sync_capable = True

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Answer:
        answer = self.get_response(request)
        if isinstance(answer, HttpResponseBase):
            return _with_policy(request, answer)
        return self._await(request, answer)

    async def _await(
        self, request: HttpRequest, answer: Awaitable[HttpResponseBase]
    ) -> HttpResponseBase:
        return _with_policy(request, await answer)


def _with_policy(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    if request.path_info.startswith("/admin/"):
        response._csp_replace = settings.ADMIN_CONTENT_SECURITY_POLICY  # type: ignore[attr-defined]
    return response
