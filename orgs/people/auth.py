"""The actor as Django's admin and the REST framework know it."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant


class ActorUser:
    """An actor in the place where Django expects a user. It has no row and no password.

    The admin lets in who may read the configuration and the audit; what may be changed there goes
    through actions, which ask for their own grants.
    """

    is_active = True
    is_anonymous = False
    is_authenticated = True
    is_superuser = False
    pk = id = 0

    def __init__(self, actor: Actor) -> None:
        self.actor = actor

    def __str__(self) -> str:
        return self.actor.name

    @property
    def username(self) -> str:
        return self.actor.login

    @property
    def is_staff(self) -> bool:
        return {Grant.CONFIG_READ, Grant.AUDIT_READ} <= self.actor.grants

    def get_username(self) -> str:
        return self.actor.login

    def get_short_name(self) -> str:
        return self.actor.name

    def get_full_name(self) -> str:
        return self.actor.name

    def has_perm(self, perm: str, obj: Any = None) -> bool:
        return self.is_staff and ".view_" in perm

    def has_perms(self, perms: list[str], obj: Any = None) -> bool:
        return all(self.has_perm(perm, obj) for perm in perms)

    def has_module_perms(self, app_label: str) -> bool:
        return self.is_staff

    def has_usable_password(self) -> bool:
        return False


class CrewletAuthentication(BaseAuthentication):
    """Answers with the actor that the middleware found; a wrong token never comes this far."""

    def authenticate(self, request: Request) -> tuple[Actor, None] | None:
        """Returns the actor as the user of a REST request, or None for nobody."""
        actor = getattr(request._request, "actor", None)
        return None if actor is None else (actor, None)

    def authenticate_header(self, request: Request) -> str:
        """Returns the challenge that makes a refusal a 401."""
        return 'Bearer realm="crewlet"'


class CrewletScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # untyped upstream
    """Tells the API's schema that a request comes with a bearer token or the session cookie."""

    target_class = CrewletAuthentication
    name = ["bearer", "session"]

    def get_security_definition(self, auto_schema: Any) -> list[dict[str, str]]:
        """Returns one definition for each of the two names."""
        cookie = {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME}
        return [{"type": "http", "scheme": "bearer"}, cookie]

    def get_security_requirement(self, auto_schema: Any) -> list[dict[str, list[str]]]:
        """Returns that either of them is enough."""
        return [{name: []} for name in ("bearer", "session")]
