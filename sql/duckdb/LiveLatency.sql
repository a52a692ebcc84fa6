-- LiveLatency: Latest distance of the playhead from the live edge, in ms. The latest value of a session counts.
SELECT sender, playback, arg_max(value, (sequence, time)) AS value, max(weight) AS weight
FROM metrics WHERE name = 'LiveLatency'
GROUP BY ALL ORDER BY ALL;
