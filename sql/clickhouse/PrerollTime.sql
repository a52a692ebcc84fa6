-- AdStartTime: Ads before the first frame, in ms. A session has one value.
SELECT sender, playback, toInt64(min(value)) AS value
FROM metrics WHERE name = 'AdStartTime'
GROUP BY sender, playback ORDER BY sender, playback;
