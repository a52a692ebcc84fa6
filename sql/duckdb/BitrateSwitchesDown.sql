-- BitrateSwitchesDown: Falls of the rendered quality. The values of a session add up.
SELECT sender, playback, sum(value)::BIGINT AS value, max(weight) AS weight
FROM metrics WHERE name = 'BitrateSwitchesDown'
GROUP BY ALL ORDER BY ALL;
