-- PlayTime as the core metrics define it, from events: Time played, in ms.
SELECT sender, playback, toInt64(toInt64(sum(JSONExtractInt(attributes, 'deltaPlayTime')))) AS value, max(weight) AS weight
FROM events WHERE JSONHas(attributes, 'deltaPlayTime')
GROUP BY sender, playback ORDER BY sender, playback;
