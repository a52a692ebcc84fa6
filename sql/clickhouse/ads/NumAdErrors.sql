-- NumAdErrors: Errors of ads by their VAST code, else by the player's code. The values of a session add up for each code.
SELECT sender, playback,
    if(JSONHas(attributes, 'adErrorCode'), JSONExtractRaw(attributes, 'adErrorCode'), JSONExtractString(attributes, 'errorCode')) AS label,
    toInt64(sum(toInt64(value))) AS value, max(weight) AS weight
FROM metrics WHERE name = 'NumAdErrors'
GROUP BY sender, playback, label ORDER BY sender, playback, label;
