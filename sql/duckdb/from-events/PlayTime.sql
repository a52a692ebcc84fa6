-- PlayTime as the core metrics define it, from events: Time played, in ms.
-- The part of an event that is missing is the growth of accumPlayTime that no deltaPlayTime explains.
WITH read AS (
    SELECT sender, playback, weight, sequence,
        action IN ('End', 'Stop', 'Next') OR (action = 'Error' AND coalesce((attributes->>'isFatal')::BOOLEAN, false)) AS ends,
        (attributes->>'accumPlayTime')::BIGINT AS total, coalesce((attributes->>'deltaPlayTime')::BIGINT, 0) AS played
    FROM events
), parts AS (
    SELECT *,
        greatest(coalesce(total - played - lag(CASE WHEN ends THEN NULL ELSE total END) OVER playbacks, 0), 0) AS missing
    FROM read
    WINDOW playbacks AS (PARTITION BY sender, playback ORDER BY sequence)
)
SELECT sender, playback, sum(played + missing)::BIGINT AS value, max(weight) AS weight
FROM parts
GROUP BY ALL HAVING sum(played + missing) > 0 ORDER BY ALL;
