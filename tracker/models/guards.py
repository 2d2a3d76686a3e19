"""What the database holds by itself, as SQL that runs once after the tables are there."""

from __future__ import annotations

GUARDS: list[str] = [
    # Search by a piece of a title, as icontains asks for it: UPPER(title) LIKE UPPER('%…%').
    "CREATE EXTENSION IF NOT EXISTS pg_trgm",
    """
    CREATE INDEX IF NOT EXISTS item_title_trigram ON tracker_workitem
    USING gin (upper(title::text) gin_trgm_ops)
    """,
    "INSERT INTO tracker_changecounter (id, value) VALUES (1, 0) ON CONFLICT DO NOTHING",
    """
    CREATE OR REPLACE FUNCTION tracker_refuse_rewrite() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION '% rows are never changed', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
    END $$
    """,
    """
    CREATE OR REPLACE TRIGGER item_body_immutable BEFORE UPDATE ON tracker_itembody
    FOR EACH ROW EXECUTE FUNCTION tracker_refuse_rewrite()
    """,
    """
    CREATE OR REPLACE TRIGGER comment_decision_immutable
    BEFORE UPDATE OF decision ON tracker_comment
    FOR EACH ROW WHEN (OLD.decision IS DISTINCT FROM NEW.decision)
    EXECUTE FUNCTION tracker_refuse_rewrite()
    """,
]
