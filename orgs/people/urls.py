"""The pages of signing in."""

from __future__ import annotations

from django.urls import path

from orgs.people import views

urlpatterns = [
    path("sign-in", views.sign_in, name="sign_in"),
    path("sign-in/link/<str:code>", views.sign_in_link, name="sign_in_link"),
    path("sign-out", views.sign_out, name="sign_out"),
    path("account", views.account, name="account"),
]
