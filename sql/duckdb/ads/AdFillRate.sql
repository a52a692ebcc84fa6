-- AdFillRate: Ads played over ads requested: the mean of the breaks.
SELECT sender, playback, avg(value) AS value
FROM metrics WHERE name = 'AdFillRate'
GROUP BY ALL ORDER BY ALL;
