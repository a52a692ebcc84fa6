-- ExitBeforeStart: Sessions that the person left before the first frame. The values of a session add up.
SELECT sender, playback, sum(value)::BIGINT AS value, max(weight) AS weight
FROM metrics WHERE name = 'ExitBeforeStart'
GROUP BY ALL ORDER BY ALL;
