-- ConcurrentPlays: the most plays at the same time in all recordings, from events; each recorded session counts with its weight.
-- A session plays from its first frame up to its end or, if it has none, its latest event, without the instant of the end.
WITH starts AS (
    SELECT sender, playback, min(instant) AS begun, max(weight) AS share
    FROM events WHERE action = 'Start'
    GROUP BY sender, playback
),
later AS (
    SELECT events.sender AS sender, events.playback AS playback, share, begun, instant, time,
        action IN ('End', 'Stop', 'Next') OR (action = 'Error' AND JSONExtractBool(attributes, 'isFatal')) AS is_end
    FROM events INNER JOIN starts ON events.sender = starts.sender AND events.playback = starts.playback
    WHERE instant >= begun
),
plays AS (
    SELECT share, intDiv(if(max(is_end), minIf(instant, is_end), max(instant)), 1000000) - intDiv(begun, 1000000) AS length,
        if(max(is_end), argMinIf(time, instant, is_end), argMax(time, instant)) AS finish
    FROM later GROUP BY sender, playback, share, begun
),
changes AS (
    SELECT finish - length AS moment, toInt64(share) AS change FROM plays
    UNION ALL
    SELECT finish - length + greatest(length, 1) AS moment, -toInt64(share) AS change FROM plays
),
sums AS (SELECT moment, sum(change) AS change FROM changes GROUP BY moment)
SELECT toInt64(max(number)) AS value
FROM (SELECT sum(change) OVER (ORDER BY moment) AS number FROM sums);
