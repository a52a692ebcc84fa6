-- StartTime: From the request (else the load) to the first frame, in ms. A session has one value.
SELECT sender, playback, min(value)::BIGINT AS value, max(weight) AS weight
FROM metrics WHERE name = 'StartTime'
GROUP BY ALL ORDER BY ALL;
