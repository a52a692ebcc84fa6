-- NumLoads: Streams loaded. The values of a session add up.
SELECT sender, playback, sum(value)::BIGINT AS value
FROM metrics WHERE name = 'NumLoads'
GROUP BY ALL ORDER BY ALL;
