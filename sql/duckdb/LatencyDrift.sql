-- LatencyDrift: Latest latency minus the first one, in ms. The latest value of a session counts.
SELECT sender, playback, arg_max(value, (sequence, time)) AS value, max(weight) AS weight
FROM metrics WHERE name = 'LatencyDrift'
GROUP BY ALL ORDER BY ALL;
