"""Promises of the tables that Django's constraints cannot say."""

from __future__ import annotations

from django.db import migrations

from agents.models.guards import GUARDS


class Migration(migrations.Migration):
    dependencies = [("agents", "0001_initial")]

    operations = [
        migrations.RunSQL(statement, reverse_sql=migrations.RunSQL.noop) for statement in GUARDS
    ]
