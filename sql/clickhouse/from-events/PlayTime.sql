-- PlayTime as the core metrics define it, from events: Time played, in ms.
-- The part of an event that is missing is the growth of accumPlayTime that no deltaPlayTime explains.
WITH read AS (
    SELECT sender, playback, weight, sequence, action IN ('End', 'Stop', 'Next') OR (action = 'Error' AND JSONExtractBool(attributes, 'isFatal')) AS ends,
        JSONExtract(attributes, 'accumPlayTime', 'Nullable(Int64)') AS total, JSONExtractInt(attributes, 'deltaPlayTime') AS played
    FROM events
), parts AS (
    SELECT *, greatest(ifNull(total - played - max(if(ends, NULL, total)) OVER previous, 0), 0) AS missing
    FROM read
    WINDOW previous AS (PARTITION BY sender, playback ORDER BY sequence ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING)
)
SELECT sender, playback, toInt64(sum(played + missing)) AS value, max(weight) AS weight
FROM parts
GROUP BY sender, playback HAVING value > 0 ORDER BY sender, playback;
