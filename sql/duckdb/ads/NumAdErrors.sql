-- NumAdErrors: Errors of ads by their VAST code, else by the player's code. The values of a session add up for each code.
SELECT sender, playback, coalesce(attributes->>'adErrorCode', attributes->>'errorCode') AS label, sum(value)::BIGINT AS value, max(weight) AS weight
FROM metrics WHERE name = 'NumAdErrors'
GROUP BY ALL ORDER BY ALL;
