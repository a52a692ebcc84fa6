-- PlaybackFailure: Sessions that failed after the first frame. The values of a session add up.
SELECT sender, playback, sum(value)::BIGINT AS value, max(weight) AS weight
FROM metrics WHERE name = 'PlaybackFailure'
GROUP BY ALL ORDER BY ALL;
