-- NumRequests as the core metrics define it, from events: Streams asked for.
SELECT sender, playback, toInt64(count()) AS value, max(weight) AS weight
FROM events WHERE action = 'MediaRequest'
GROUP BY sender, playback ORDER BY sender, playback;
