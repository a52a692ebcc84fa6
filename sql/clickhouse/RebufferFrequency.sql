-- RebufferFrequency: Stalls per minute of playing. The latest value of a session counts.
SELECT sender, playback, argMax(value, (sequence, time)) AS value, max(weight) AS weight
FROM metrics WHERE name = 'RebufferFrequency'
GROUP BY sender, playback ORDER BY sender, playback;
