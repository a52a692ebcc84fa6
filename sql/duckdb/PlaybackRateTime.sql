-- PlaybackRateTime: Time of playing at a rate above 1 (fast) and below 1 (slow), in ms. The values of a session add up for each label.
SELECT sender, playback, attributes->>'rate' AS label, sum(value)::BIGINT AS value, max(weight) AS weight
FROM metrics WHERE name = 'PlaybackRateTime'
GROUP BY ALL ORDER BY ALL;
