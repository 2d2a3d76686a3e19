"""The index of words."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="SearchDoc",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(max_length=16)),
                ("ident", models.CharField(max_length=64)),
                ("title", models.TextField()),
                ("body", models.TextField(blank=True)),
                ("length", models.IntegerField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("kind", "ident"), name="search_doc_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="SearchPosting",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("term", models.CharField(db_collation="C", max_length=100)),
                ("tf", models.IntegerField()),
                (
                    "doc",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="postings",
                        to="search.searchdoc",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("term", "doc"), name="search_posting_once")
                ],
            },
        ),
    ]
