-- NumLoads as the core metrics define it, from events: Streams loaded.
SELECT sender, playback, count(*) AS value, max(weight) AS weight
FROM events WHERE action = 'StreamLoad'
GROUP BY ALL ORDER BY ALL;
