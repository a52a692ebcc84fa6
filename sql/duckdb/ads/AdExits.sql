-- AdExits: Playbacks that the person left during an ad. The values of a session add up.
SELECT sender, playback, sum(value)::BIGINT AS value, max(weight) AS weight
FROM metrics WHERE name = 'AdExits'
GROUP BY ALL ORDER BY ALL;
