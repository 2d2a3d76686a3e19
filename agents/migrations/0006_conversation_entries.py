from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models

import crewlet.kernel.ids


class Migration(migrations.Migration):
    dependencies = [("agents", "0005_judges_and_contexts"), ("orgs", "0004_outbound_mail")]

    operations = [
        migrations.CreateModel(
            name="ConversationEntry",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=crewlet.kernel.ids.new_id, primary_key=True, serialize=False
                    ),
                ),
                ("conversation", models.CharField(max_length=200)),
                ("work_key", models.CharField(max_length=80)),
                ("turn_id", models.UUIDField()),
                ("entry", models.JSONField()),
                ("at", models.DateTimeField()),
                (
                    "seat",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="conversations",
                        to="orgs.seat",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["seat", "conversation", "-at"], name="conversation_newest"
                    ),
                    models.Index(fields=["at"], name="conversation_at"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("seat", "conversation", "work_key"),
                        name="conversation_entry_once",
                    )
                ],
            },
        ),
    ]
