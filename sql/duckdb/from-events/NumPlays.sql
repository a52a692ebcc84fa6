-- NumPlays as the core metrics define it, from events: Playbacks started.
SELECT sender, playback, count(*) AS value, max(weight) AS weight
FROM events WHERE action = 'Start'
GROUP BY ALL ORDER BY ALL;
