"""The organization in Django's admin: everything to read, nothing to edit past an action."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from unfold.admin import ModelAdmin

from crewlet.kernel.actions import Door, perform
from crewlet.kernel.authority import Grant
from orgs.models.company import Activation, Company, ConfigRevision
from orgs.models.notices import InboxMark, Notice
from orgs.models.outbound import OutboundMail
from orgs.models.people import Credential, Person, SessionRecord, SignInTally
from orgs.models.seats import Seat, Unit


class ReadOnlyAdmin(ModelAdmin):  # type: ignore[misc]  # unfold ships no types
    """Shows rows and changes none; what may be done to them are actions of the product."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return bool(getattr(request.user, "is_staff", False))


@admin.register(Person)
class PersonAdmin(ReadOnlyAdmin):
    """People; suspending and activating go through the same actions as everywhere."""

    list_display = ("login", "name", "stage", "seat", "last_seen_at")
    list_filter = ("stage",)
    search_fields = ("login", "name")
    exclude = ("password",)
    actions = ("suspend", "activate", "sign_out")

    def has_people_permission(self, request: HttpRequest) -> bool:
        """Returns whether the actor manages people; the names below ask for it."""
        actor = getattr(request, "actor", None)
        return actor is not None and Grant.PEOPLE_MANAGE in actor.grants

    @admin.action(description="Suspend", permissions=["people"])
    def suspend(self, request: HttpRequest, chosen: QuerySet[Person]) -> None:
        """Suspends the chosen people, one by one."""
        self._each(request, "suspend_person", chosen)

    @admin.action(description="Let in again", permissions=["people"])
    def activate(self, request: HttpRequest, chosen: QuerySet[Person]) -> None:
        """Activates the chosen people, one by one."""
        self._each(request, "activate_person", chosen)

    @admin.action(description="Sign out everywhere", permissions=["people"])
    def sign_out(self, request: HttpRequest, chosen: QuerySet[Person]) -> None:
        """Ends every session of the chosen people."""
        self._each(request, "end_all_sessions", chosen)

    def _each(self, request: HttpRequest, name: str, chosen: QuerySet[Person]) -> None:
        actor: Any = request.actor  # type: ignore[attr-defined]
        for login in chosen.values_list("login", flat=True):
            outcome = perform(actor, name, {"login": login}, op_id=None, door=Door.FORM)
            if outcome.result is not None:
                messages.success(request, outcome.result.message)
            elif outcome.error is not None:
                messages.error(request, outcome.error.message)


@admin.register(Credential)
class CredentialAdmin(ReadOnlyAdmin):
    """Links and tokens, without what proves them."""

    list_display = ("label", "kind", "person", "created_by", "expires_at", "used_at", "revoked_at")
    list_filter = ("kind",)
    exclude = ("digest",)


@admin.register(SessionRecord)
class SessionRecordAdmin(ReadOnlyAdmin):
    """Signed-in browsers."""

    list_display = ("person", "source", "started_at", "seen_at", "ended_at")


@admin.register(SignInTally)
class SignInTallyAdmin(ReadOnlyAdmin):
    """Sign-in tries by source and minute."""

    list_display = ("source", "minute", "tries")


@admin.register(Notice)
class NoticeAdmin(ReadOnlyAdmin):
    """What people were told."""

    list_display = ("title", "kind", "reason", "seat", "person", "at", "read_at")
    list_filter = ("kind", "reason")


@admin.register(InboxMark)
class InboxMarkAdmin(ReadOnlyAdmin):
    """What people put aside."""

    list_display = ("login", "ref", "snoozed_until", "done_at")


@admin.register(OutboundMail)
class OutboundMailAdmin(ReadOnlyAdmin):
    """What left for people by e-mail."""

    list_display = ("person", "ref", "state", "attempts", "due_at", "ended_at", "error")
    list_filter = ("state",)


@admin.register(ConfigRevision)
class ConfigRevisionAdmin(ReadOnlyAdmin):
    """Stored versions of the company document; the payload is read under Settings, masked."""

    list_display = ("created_at", "author", "source", "summary")
    exclude = ("payload",)


@admin.register(Activation)
class ActivationAdmin(ReadOnlyAdmin):
    """Epochs."""

    list_display = ("id", "revision", "reason", "author", "at")


@admin.register(Company)
class CompanyAdmin(ReadOnlyAdmin):
    """The company."""

    list_display = ("name", "active_revision")


@admin.register(Unit)
class UnitAdmin(ReadOnlyAdmin):
    """Units, a projection of the document."""

    list_display = ("key", "name", "parent", "effective_lead", "removed_at")


@admin.register(Seat)
class SeatAdmin(ReadOnlyAdmin):
    """Seats, a projection of the document."""

    list_display = ("handle", "name", "kind", "unit", "primary_manager", "removed_at")
    list_filter = ("kind",)
    search_fields = ("handle", "name")
