-- NumLoads as the core metrics define it, from events: Streams loaded.
SELECT sender, playback, count(*) AS value
FROM events WHERE action = 'StreamLoad'
GROUP BY ALL ORDER BY ALL;
