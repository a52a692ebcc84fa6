-- NumAds: Ads that began. The values of a session add up.
SELECT sender, playback, sum(value)::BIGINT AS value
FROM metrics WHERE name = 'NumAds'
GROUP BY ALL ORDER BY ALL;
