"""Addresses of the tracker below /api/v1/."""

from __future__ import annotations

from django.urls import path

from tracker.api import files, search, views

urlpatterns = [
    path("work", views.WorkView.as_view(), name="api-work"),
    path("work/projects", views.ProjectsView.as_view(), name="api-projects"),
    path("work/projects/<slug:key>", views.ProjectView.as_view(), name="api-project"),
    path(
        "work/projects/<slug:key>/history",
        views.ProjectHistoryView.as_view(),
        name="api-project-history",
    ),
    path("work/projects/<slug:key>/files", files.ProjectFilesView.as_view(), name="api-files"),
    path(
        "work/projects/<slug:key>/files/<path:path>",
        files.ProjectFileView.as_view(),
        name="api-file",
    ),
    path("work/search", search.SearchView.as_view(), name="api-work-search"),
    path("work/my-work", views.MyWorkView.as_view(), name="api-my-work"),
    path("work/<str:key>", views.ItemView.as_view(), name="api-item"),
    path("work/<str:key>/comments", views.CommentsView.as_view(), name="api-item-comments"),
    path("work/<str:key>/restore", views.RestoreView.as_view(), name="api-item-restore"),
    path("work/<str:key>/attachments", files.AttachmentsView.as_view(), name="api-attachments"),
]
