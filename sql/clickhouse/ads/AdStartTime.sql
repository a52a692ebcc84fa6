-- AdStartTime: Time from the begin of a break to the first frame of its first ad, in ms: the mean of the breaks.
SELECT sender, playback, avg(value) AS value, max(weight) AS weight
FROM metrics WHERE name = 'AdStartTime'
GROUP BY sender, playback ORDER BY sender, playback;
