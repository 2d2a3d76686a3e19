"""Promises of the runtime's tables that Django's constraints cannot say. Every one can run twice.

A change here needs a migration of its own: databases that exist have run these already.
"""

from __future__ import annotations

EPOCH_NEVER_FALLS = """
CREATE OR REPLACE FUNCTION agents_lease_epoch_never_falls() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.epoch < OLD.epoch THEN
        RAISE EXCEPTION 'the epoch of a lease never falls (% to %)', OLD.epoch, NEW.epoch;
    END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER lease_epoch_never_falls BEFORE UPDATE OF epoch ON agents_seatlease
    FOR EACH ROW EXECUTE FUNCTION agents_lease_epoch_never_falls();
"""

# Mail is written and deleted all day: room on the page for its updates, and an eager vacuum.
MAIL_STAYS_SMALL = """
ALTER TABLE agents_delivery SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
"""

GUARDS: list[str] = [EPOCH_NEVER_FALLS, MAIL_STAYS_SMALL]
