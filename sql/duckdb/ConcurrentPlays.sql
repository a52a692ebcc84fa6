-- ConcurrentPlays: the most plays at the same time in all recordings, from events; each recorded session counts with its weight.
-- A session plays from its first frame up to its end or, if it has none, its latest event, without the instant of the end.
WITH starts AS (
    SELECT sender, coalesce(playback, '') AS playback, min(instant) AS begun, max(weight) AS weight
    FROM events WHERE action = 'Start'
    GROUP BY ALL
),
later AS (
    SELECT starts.*, instant, time,
        action IN ('End', 'Stop', 'Next') OR (action = 'Error' AND coalesce((attributes->>'isFatal')::BOOLEAN, false)) AS is_end
    FROM starts JOIN events ON events.sender = starts.sender AND coalesce(events.playback, '') = starts.playback AND instant >= begun
),
plays AS (
    SELECT sender, playback, weight, coalesce(min(instant) FILTER (is_end), max(instant)) // 1000000 - begun // 1000000 AS length,
        coalesce(arg_min(time, instant) FILTER (is_end), arg_max(time, instant)) AS finish
    FROM later GROUP BY sender, playback, weight, begun
),
changes AS (
    SELECT finish - length AS time, weight AS change FROM plays
    UNION ALL
    SELECT finish - length + greatest(length, 1), -weight FROM plays
)
SELECT coalesce(max(number), 0)::BIGINT AS value
FROM (SELECT sum(sum(change)) OVER (ORDER BY time) AS number FROM changes GROUP BY time);
