-- PlaybackRateTime: Time of playing at a rate above 1 (fast) and below 1 (slow), in ms. The values of a session add up for each label.
SELECT sender, playback, JSONExtractString(attributes, 'rate') AS label, toInt64(sum(toInt64(value))) AS value, max(weight) AS weight
FROM metrics WHERE name = 'PlaybackRateTime'
GROUP BY sender, playback, label ORDER BY sender, playback, label;
