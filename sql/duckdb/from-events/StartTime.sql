-- StartTime as the core metrics define it, from events: from the request of the playback, else from its load, to the first frame, in ms.
-- A start, request or load that is missing is known by the time attributes of the event after it.
WITH read AS (
    SELECT *, coalesce((attributes->>'inPlaybackBlock')::BOOLEAN, false) AS plays,
        (attributes->>'timeSinceMediaRequest')::BIGINT AS request_age, (attributes->>'timeSinceStreamLoad')::BIGINT AS load_age,
        least(coalesce((attributes->>'timeSinceEnd')::BIGINT, 9223372036854775807), coalesce((attributes->>'timeSinceStop')::BIGINT, 9223372036854775807), coalesce((attributes->>'timeSinceNext')::BIGINT, 9223372036854775807), coalesce((attributes->>'timeSinceError')::BIGINT, 9223372036854775807)) AS end_age
    FROM events
), seen AS (
    SELECT *,
        coalesce(bool_or(action = 'MediaRequest') OVER earlier, false) AS is_requested,
        coalesce(bool_or(action = 'StreamLoad') OVER earlier, false) AS is_loaded,
        coalesce(bool_or(action = 'Start') OVER whole, false) AS has_start,
        coalesce(bool_or(plays OR action = 'Start') OVER earlier, false) AS has_played
    FROM read
    WINDOW earlier AS (PARTITION BY sender, playback ORDER BY sequence ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
        whole AS (PARTITION BY sender, playback)
), starts AS (
    SELECT *, CASE WHEN action = 'Start' THEN 0 ELSE (attributes->>'timeSinceStart')::BIGINT END AS start_age
    FROM seen
    WHERE action = 'Start' OR (plays AND NOT has_played AND NOT has_start AND (is_requested OR is_loaded))
)
SELECT sender, playback,
    (CASE WHEN is_requested OR request_age < end_age THEN request_age ELSE load_age END) - start_age AS value, weight
FROM starts
WHERE start_age IS NOT NULL AND NOT coalesce((attributes->>'joinedLate')::BOOLEAN, false)
    AND (is_requested OR is_loaded OR request_age < end_age OR load_age < end_age) AND value IS NOT NULL
ORDER BY ALL;
