-- AdTime: Time of ads from the first frame to the end, in ms. The values of a session add up.
SELECT sender, playback, sum(value)::BIGINT AS value, max(weight) AS weight
FROM metrics WHERE name = 'AdTime'
GROUP BY ALL ORDER BY ALL;
