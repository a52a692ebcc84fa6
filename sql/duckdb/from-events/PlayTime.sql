-- PlayTime as the core metrics define it, from events: Time played, in ms.
SELECT sender, playback, sum((attributes->>'deltaPlayTime')::BIGINT)::BIGINT AS value, max(weight) AS weight
FROM events WHERE attributes->>'deltaPlayTime' IS NOT NULL
GROUP BY ALL ORDER BY ALL;
