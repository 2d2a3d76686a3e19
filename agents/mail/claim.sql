-- The letters from which a seat's next turn is made: one conversation, the oldest that is due.
--
-- Order of conversations: the control lane, then never-tried mail, then mail that failed before
-- (it blocks nobody), each by its oldest letter. A conversation is due when its oldest letter has
-- waited out the coalescing window, so that a burst becomes one turn; a window of 0 waits for
-- nothing. Failed letters of a conversation form a batch of their own behind its fresh ones.
--
-- Holds: the caller's transaction has fenced the seat's lease, so one node alone is here for this
-- seat. FOR UPDATE is for the operator who moves or drops a letter meanwhile.
WITH due AS (
    SELECT seq, lane, batch_key, attempts > 0 AS tried, event_ts, created_at
    FROM agents_delivery
    WHERE seat_id = %(seat)s
      AND turn_id IS NULL
      AND (not_before IS NULL OR not_before <= clock_timestamp())
),
head AS (
    SELECT lane, batch_key, tried
    FROM due
    GROUP BY lane, batch_key, tried
    HAVING min(created_at) <= clock_timestamp() - make_interval(secs => %(window)s)
        OR count(*) >= %(limit)s
    ORDER BY lane <> 'control', tried, min(event_ts), min(seq)
    LIMIT 1
)
SELECT d.seq, d.event_id, d.kind, d.source, d.batch_key, d.conversation, d.event_ts, d.payload,
       d.reply_kind, d.reply_surface, d.depth, d.chain, d.work_item, d.parent_turn, d.agent_caused,
       d.attempts, d.trace
FROM agents_delivery AS d
JOIN due USING (seq)
JOIN head ON head.lane = due.lane AND head.batch_key = due.batch_key AND head.tried = due.tried
ORDER BY d.event_ts, d.seq
LIMIT %(limit)s
FOR UPDATE OF d
