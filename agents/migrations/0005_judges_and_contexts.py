from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agents", "0004_a_person_in_charge")]

    operations = [
        migrations.AddField(
            model_name="phase",
            name="host_round",
            field=models.IntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="phase",
            name="round_ceiling",
            field=models.IntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="round",
            name="full_context",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.RemoveConstraint(model_name="phase", name="phase_once"),
        migrations.AddConstraint(
            model_name="phase",
            constraint=models.UniqueConstraint(
                fields=("turn", "phase", "iteration", "host_round"), name="phase_once"
            ),
        ),
    ]
