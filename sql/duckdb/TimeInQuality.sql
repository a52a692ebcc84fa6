-- TimeInQuality: Time of playing in each rendition, in ms. The values of a session add up for each label.
SELECT sender, playback, attributes->>'rendition' AS label, sum(value)::BIGINT AS value, max(weight) AS weight
FROM metrics WHERE name = 'TimeInQuality'
GROUP BY ALL ORDER BY ALL;
