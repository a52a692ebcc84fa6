-- AdFillRate: Ads played over ads requested: the mean of the breaks.
SELECT sender, playback, avg(value) AS value, max(weight) AS weight
FROM metrics WHERE name = 'AdFillRate'
GROUP BY ALL ORDER BY ALL;
