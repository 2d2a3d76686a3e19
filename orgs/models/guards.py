"""What the database itself refuses: the history of the company is only ever added to."""

from __future__ import annotations

_REFUSE = """
CREATE OR REPLACE FUNCTION orgs_history_is_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'The history in % is only ever added to.', TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation';
END
$$
"""


def _guard(table: str) -> str:
    return (
        f"CREATE OR REPLACE TRIGGER {table}_kept BEFORE UPDATE OR DELETE ON {table} "
        "FOR EACH ROW EXECUTE FUNCTION orgs_history_is_kept()"
    )


GUARDS: list[str] = [_REFUSE, _guard("orgs_configrevision"), _guard("orgs_activation")]
