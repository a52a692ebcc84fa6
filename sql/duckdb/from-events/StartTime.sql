-- StartTime as the core metrics define it, from events: from the request of the playback, else from its load, to the first frame, in ms.
WITH seen AS (
    SELECT *,
        bool_or(action = 'MediaRequest') OVER earlier AS is_requested,
        bool_or(action = 'StreamLoad') OVER earlier AS is_loaded
    FROM events
    WINDOW earlier AS (PARTITION BY sender, playback ORDER BY sequence ROWS UNBOUNDED PRECEDING)
)
SELECT sender, playback,
    (CASE WHEN is_requested THEN attributes->>'timeSinceMediaRequest' ELSE attributes->>'timeSinceStreamLoad' END)::BIGINT AS value, weight
FROM seen
WHERE action = 'Start' AND NOT coalesce((attributes->>'joinedLate')::BOOLEAN, false) AND (is_requested OR is_loaded)
ORDER BY ALL;
