-- NumAdErrors: Errors of ads by their VAST code. The values of a session add up for each code.
SELECT sender, playback, JSONExtractRaw(attributes, 'adErrorCode') AS label, toInt64(sum(toInt64(value))) AS value, max(weight) AS weight
FROM metrics WHERE name = 'NumAdErrors'
GROUP BY sender, playback, label ORDER BY sender, playback, label;
