-- AdRebufferTime: Time for which ads buffered, in ms. The values of a session add up.
SELECT sender, playback, sum(value)::BIGINT AS value, max(weight) AS weight
FROM metrics WHERE name = 'AdRebufferTime'
GROUP BY ALL ORDER BY ALL;
