-- PrerollTime: Ads before the first frame, in ms. A session has one value.
SELECT sender, playback, toInt64(min(value)) AS value, max(weight) AS weight
FROM metrics WHERE name = 'PrerollTime'
GROUP BY sender, playback ORDER BY sender, playback;
