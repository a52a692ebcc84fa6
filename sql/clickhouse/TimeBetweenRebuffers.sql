-- TimeBetweenRebuffers: Play time / stalls, in ms. The latest value of a session counts.
SELECT sender, playback, argMax(value, (sequence, time)) AS value, max(weight) AS weight
FROM metrics WHERE name = 'TimeBetweenRebuffers'
GROUP BY sender, playback ORDER BY sender, playback;
