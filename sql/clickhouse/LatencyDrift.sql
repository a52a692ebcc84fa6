-- LatencyDrift: Latest latency minus the first one, in ms. The latest value of a session counts.
SELECT sender, playback, argMax(value, (sequence, time)) AS value, max(weight) AS weight
FROM metrics WHERE name = 'LatencyDrift'
GROUP BY sender, playback ORDER BY sender, playback;
