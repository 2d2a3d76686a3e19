"""What is known of MCP servers: how each stood when it was last asked, and its tools."""

from __future__ import annotations

from django.db import models

from crewlet.kernel.ids import new_id


class ServerState(models.TextChoices):
    """How a server stood when it was last asked.

    | state | means | left to |
    |---|---|---|
    | new | never asked | ready, failed |
    | ready | it listed its tools | failed |
    | failed | it did not start, did not list, or died; `error` says why | ready |
    """

    NEW = "new", "New"
    READY = "ready", "Ready"
    FAILED = "failed", "Failed"


class MCPServer(models.Model):
    """One server of `mcp_servers`, as the company shares it or as one seat has it."""

    id = models.UUIDField(primary_key=True, default=new_id)
    name = models.CharField(max_length=200)
    seat = models.ForeignKey(
        "orgs.Seat", null=True, on_delete=models.CASCADE, related_name="+"
    )  # null: the company's shared one
    state = models.CharField(
        max_length=8, choices=ServerState.choices, default=ServerState.NEW, db_default="new"
    )
    error = models.TextField(blank=True)  # with the last lines that it wrote to stderr
    warning = models.TextField(blank=True)  # what was odd about its list of tools
    listed_at = models.DateTimeField(null=True)
    changed_at = models.DateTimeField()  # since when it stands so
    asked_at = models.DateTimeField(null=True)  # a person wants it asked anew
    asked_by = models.CharField(max_length=128, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["name", "seat"], nulls_distinct=False, name="mcp_server_once"
            )
        ]


class MCPTool(models.Model):
    """A tool as its server listed it. A hint is yes, no or unknown; the company may override it."""

    id = models.UUIDField(primary_key=True, default=new_id)
    server = models.ForeignKey(MCPServer, on_delete=models.CASCADE, related_name="tools")
    name = models.CharField(max_length=400)  # as the server spells it
    title = models.CharField(max_length=400, blank=True)
    description = models.TextField(blank=True)
    schema = models.JSONField(default=dict)
    hints = models.JSONField(default=dict)  # {read_only, destructive, idempotent, open_world}

    class Meta:
        constraints = [models.UniqueConstraint(fields=["server", "name"], name="mcp_tool_once")]
