-- NumEnds as the core metrics define it, from events: Playbacks ended.
SELECT sender, playback, count(*) AS value, max(weight) AS weight
FROM events WHERE action IN ('End', 'Stop', 'Next')
GROUP BY ALL ORDER BY ALL;
