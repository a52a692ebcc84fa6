-- NumAds: Ads that began. The values of a session add up.
SELECT sender, playback, toInt64(sum(toInt64(value))) AS value, max(weight) AS weight
FROM metrics WHERE name = 'NumAds'
GROUP BY sender, playback ORDER BY sender, playback;
