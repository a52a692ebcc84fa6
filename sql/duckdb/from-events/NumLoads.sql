-- NumLoads as the core metrics define it, from events: Streams loaded.
-- The time attribute of a later event shows one that is missing; older ones than the latest end belong to an earlier playback.
SELECT sender, playback,
    CASE WHEN count(*) FILTER (action = 'StreamLoad') > 0 THEN count(*) FILTER (action = 'StreamLoad') ELSE 1 END AS value,
    max(weight) AS weight
FROM events
WHERE action = 'StreamLoad' OR (action IN ('Start') AND (attributes->>'timeSinceStreamLoad')::BIGINT < least(coalesce((attributes->>'timeSinceEnd')::BIGINT, 9223372036854775807), coalesce((attributes->>'timeSinceStop')::BIGINT, 9223372036854775807), coalesce((attributes->>'timeSinceNext')::BIGINT, 9223372036854775807), coalesce((attributes->>'timeSinceError')::BIGINT, 9223372036854775807)))
GROUP BY ALL ORDER BY ALL;
