-- NumRequests as the core metrics define it, from events: Streams asked for.
-- The time attribute of a later event shows one that is missing; older ones than the latest end belong to an earlier playback.
SELECT sender, playback, toInt64(greatest(countIf(action = 'MediaRequest'), 1)) AS value, max(weight) AS weight
FROM events
WHERE action = 'MediaRequest' OR (action IN ('StreamLoad', 'Start') AND ifNull(JSONExtract(attributes, 'timeSinceMediaRequest', 'Nullable(Int64)') <
    least(ifNull(JSONExtract(attributes, 'timeSinceEnd', 'Nullable(Int64)'), 9223372036854775807), ifNull(JSONExtract(attributes, 'timeSinceStop', 'Nullable(Int64)'), 9223372036854775807), ifNull(JSONExtract(attributes, 'timeSinceNext', 'Nullable(Int64)'), 9223372036854775807), ifNull(JSONExtract(attributes, 'timeSinceError', 'Nullable(Int64)'), 9223372036854775807)), 0))
GROUP BY sender, playback ORDER BY sender, playback;
