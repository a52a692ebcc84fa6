-- RebufferRatio: Rebuffer time / (play time + rebuffer time). The latest value of a session counts.
SELECT sender, playback, arg_max(value, (sequence, time)) AS value, max(weight) AS weight
FROM metrics WHERE name = 'RebufferRatio'
GROUP BY ALL ORDER BY ALL;
