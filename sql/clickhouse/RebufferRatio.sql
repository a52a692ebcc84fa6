-- RebufferRatio: Rebuffer time / (play time + rebuffer time). The latest value of a session counts.
SELECT sender, playback, argMax(value, (sequence, time)) AS value, max(weight) AS weight
FROM metrics WHERE name = 'RebufferRatio'
GROUP BY sender, playback ORDER BY sender, playback;
