-- NumEnds as the core metrics define it, from events: Playbacks ended.
SELECT sender, playback, toInt64(count()) AS value, max(weight) AS weight
FROM events WHERE action IN ('End', 'Stop', 'Next')
GROUP BY sender, playback ORDER BY sender, playback;
