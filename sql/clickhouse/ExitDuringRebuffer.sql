-- ExitDuringRebuffer: Sessions that the viewer left during a stall. The values of a session add up.
SELECT sender, playback, toInt64(sum(toInt64(value))) AS value, max(weight) AS weight
FROM metrics WHERE name = 'ExitDuringRebuffer'
GROUP BY sender, playback ORDER BY sender, playback;
