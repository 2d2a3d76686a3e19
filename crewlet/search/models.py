"""The index: what can be found, and which words stand in it."""

from __future__ import annotations

from django.db import models


class SearchDoc(models.Model):
    """One text that can be found, as it was when last written."""

    kind = models.CharField(max_length=16)
    ident = models.CharField(max_length=64)
    title = models.TextField()
    body = models.TextField(blank=True)
    length = models.IntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["kind", "ident"], name="search_doc_once")]


class SearchPosting(models.Model):
    """How often a term stands in a text."""

    term = models.CharField(max_length=100, db_collation="C")
    doc = models.ForeignKey(SearchDoc, on_delete=models.CASCADE, related_name="postings")
    tf = models.IntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["term", "doc"], name="search_posting_once")]
