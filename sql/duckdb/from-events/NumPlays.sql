-- NumPlays as the core metrics define it, from events: Playbacks started.
-- A playback that was asked for and plays has started, although the event is missing.
WITH plays AS (
    SELECT sender, playback, count(*) FILTER (action = 'Start') AS starts, max(weight) AS weight,
        bool_or(action IN ('MediaRequest', 'StreamLoad') AND NOT coalesce((attributes->>'inPlaybackBlock')::BOOLEAN, true))
            AND bool_or(coalesce((attributes->>'inPlaybackBlock')::BOOLEAN, false)) AS is_known
    FROM events
    GROUP BY ALL
)
SELECT sender, playback, CASE WHEN starts = 0 AND is_known THEN 1 ELSE starts END AS value, weight
FROM plays WHERE starts > 0 OR is_known
ORDER BY ALL;
