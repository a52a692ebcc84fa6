-- NumAds: Ads that began. The values of a session add up.
SELECT sender, playback, sum(value)::BIGINT AS value, max(weight) AS weight
FROM metrics WHERE name = 'NumAds'
GROUP BY ALL ORDER BY ALL;
