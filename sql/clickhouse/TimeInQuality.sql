-- TimeInQuality: Time of playing in each rendition, in ms. The values of a session add up for each label.
SELECT sender, playback, JSONExtractString(attributes, 'rendition') AS label, toInt64(sum(toInt64(value))) AS value, max(weight) AS weight
FROM metrics WHERE name = 'TimeInQuality'
GROUP BY sender, playback, label ORDER BY sender, playback, label;
