-- StartFailure: Sessions that failed before the first frame. The values of a session add up.
SELECT sender, playback, sum(value)::BIGINT AS value, max(weight) AS weight
FROM metrics WHERE name = 'StartFailure'
GROUP BY ALL ORDER BY ALL;
