-- NumRequests as the core metrics define it, from events: Streams asked for.
SELECT sender, playback, count(*) AS value, max(weight) AS weight
FROM events WHERE action = 'MediaRequest'
GROUP BY ALL ORDER BY ALL;
