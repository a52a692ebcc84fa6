-- StartTime as the core metrics define it, from events: from the request of the playback, else from its load, to the first frame, in ms.
WITH seen AS (
    SELECT *,
        max(action = 'MediaRequest') OVER (PARTITION BY sender, playback ORDER BY sequence ROWS UNBOUNDED PRECEDING) AS is_requested,
        max(action = 'StreamLoad') OVER (PARTITION BY sender, playback ORDER BY sequence ROWS UNBOUNDED PRECEDING) AS is_loaded
    FROM events
)
SELECT sender, playback,
    toInt64(JSONExtractInt(attributes, if(is_requested, 'timeSinceMediaRequest', 'timeSinceStreamLoad'))) AS value, weight
FROM seen
WHERE action = 'Start' AND NOT JSONExtractBool(attributes, 'joinedLate') AND (is_requested OR is_loaded)
ORDER BY sender, playback;
