-- ExitDuringRebuffer: Sessions that the viewer left during a stall. The values of a session add up.
SELECT sender, playback, sum(value)::BIGINT AS value, max(weight) AS weight
FROM metrics WHERE name = 'ExitDuringRebuffer'
GROUP BY ALL ORDER BY ALL;
