-- PlaybackFailure: Sessions that failed after the first frame. The values of a session add up.
SELECT sender, playback, sum(value)::BIGINT AS value
FROM metrics WHERE name = 'PlaybackFailure'
GROUP BY ALL ORDER BY ALL;
