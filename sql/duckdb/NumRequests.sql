-- NumRequests: Streams asked for. The values of a session add up.
SELECT sender, playback, sum(value)::BIGINT AS value, max(weight) AS weight
FROM metrics WHERE name = 'NumRequests'
GROUP BY ALL ORDER BY ALL;
