import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tracker", "0004_projects_and_tags"),
    ]

    operations = [
        migrations.CreateModel(
            name="Tombstone",
            fields=[
                ("key", models.CharField(max_length=32, primary_key=True, serialize=False)),
                ("purged_at", models.DateTimeField()),
                ("purged_by", models.CharField(max_length=200)),
                ("reason", models.CharField(max_length=500)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="tombstones",
                        to="tracker.project",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="workitem",
            name="removed_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="workitem",
            name="removed_by",
            field=models.CharField(blank=True, max_length=128),
        ),
        migrations.AddField(
            model_name="workitem",
            name="removed_by_name",
            field=models.CharField(blank=True, max_length=200),
        ),
        migrations.AddField(
            model_name="workitem",
            name="removed_with",
            field=models.UUIDField(null=True),
        ),
        migrations.AddIndex(
            model_name="workitem",
            index=models.Index(
                condition=models.Q(("removed_at__isnull", False)),
                fields=["removed_with"],
                name="item_removed",
            ),
        ),
        migrations.AddConstraint(
            model_name="workitem",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("removed_at", None),
                    ("removed_with", None),
                )
                | models.Q(("removed_at__isnull", False), ("removed_with__isnull", False)),
                name="item_removed_with_others",
            ),
        ),
    ]
