"""How REST picks the form of an answer. Alone here: the REST framework reads it while it loads."""

from __future__ import annotations

from collections.abc import Iterable

from rest_framework.exceptions import NotAcceptable
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class JsonUnlessNamed(DefaultContentNegotiation):
    """Picks what the caller accepts, else JSON: a browser that opens an address reads it too."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """Returns the renderer and its media type; never refuses an Accept header."""
        offered = list(renderers)
        try:
            chosen: tuple[BaseRenderer, str] = super().select_renderer(
                request, offered, format_suffix
            )
        except NotAcceptable:
            chosen = offered[0], offered[0].media_type
        return chosen
