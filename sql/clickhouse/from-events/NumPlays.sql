-- NumPlays as the core metrics define it, from events: Playbacks started.
SELECT sender, playback, toInt64(count()) AS value, max(weight) AS weight
FROM events WHERE action = 'Start'
GROUP BY sender, playback ORDER BY sender, playback;
