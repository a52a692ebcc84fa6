-- StartTime: From the request (else the load) to the first frame, in ms. A session has one value.
SELECT sender, playback, toInt64(min(value)) AS value, max(weight) AS weight
FROM metrics WHERE name = 'StartTime'
GROUP BY sender, playback ORDER BY sender, playback;
