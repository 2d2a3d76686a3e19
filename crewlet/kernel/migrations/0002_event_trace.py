from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("kernel", "0001_initial")]

    operations = [
        migrations.AddIndex(
            model_name="engineevent",
            index=models.Index(
                fields=["trace_id", "ts"],
                name="event_trace_ts",
                condition=~models.Q(trace_id=""),
            ),
        ),
    ]
