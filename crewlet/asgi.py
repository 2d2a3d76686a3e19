"""Assembly of the web process: pages and API by Django, the live stream by Channels."""

from __future__ import annotations

import gc
import os

from channels.routing import ProtocolTypeRouter, URLRouter
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crewlet.settings")

# First: it fills the app registry, which the socket's consumer needs at import.
django_application = get_asgi_application()

from crewlet.doors.socket import websocket_urlpatterns  # noqa: E402

application = ProtocolTypeRouter(
    {"http": django_application, "websocket": URLRouter(websocket_urlpatterns)}
)

# What is loaded by now lives as long as the process. Left out of collections, it costs no request
# the tenth of a second that looking through it takes.
gc.collect()
gc.freeze()
