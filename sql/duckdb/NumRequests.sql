-- NumRequests: Streams asked for. The values of a session add up.
SELECT sender, playback, sum(value)::BIGINT AS value
FROM metrics WHERE name = 'NumRequests'
GROUP BY ALL ORDER BY ALL;
