-- AdStartTime: Ads before the first frame, in ms. A session has one value.
SELECT sender, playback, min(value)::BIGINT AS value
FROM metrics WHERE name = 'AdStartTime'
GROUP BY ALL ORDER BY ALL;
