-- NumLoads as the core metrics define it, from events: Streams loaded.
SELECT sender, playback, toInt64(count()) AS value, max(weight) AS weight
FROM events WHERE action = 'StreamLoad'
GROUP BY sender, playback ORDER BY sender, playback;
