-- NumLoads as the core metrics define it, from events: Streams loaded.
-- The time attribute of a later event shows one that is missing; older ones than the latest end belong to an earlier playback.
SELECT sender, playback, toInt64(greatest(countIf(action = 'StreamLoad'), 1)) AS value, max(weight) AS weight
FROM events
WHERE action = 'StreamLoad' OR (action IN ('Start') AND ifNull(JSONExtract(attributes, 'timeSinceStreamLoad', 'Nullable(Int64)') <
    least(ifNull(JSONExtract(attributes, 'timeSinceEnd', 'Nullable(Int64)'), 9223372036854775807), ifNull(JSONExtract(attributes, 'timeSinceStop', 'Nullable(Int64)'), 9223372036854775807), ifNull(JSONExtract(attributes, 'timeSinceNext', 'Nullable(Int64)'), 9223372036854775807), ifNull(JSONExtract(attributes, 'timeSinceError', 'Nullable(Int64)'), 9223372036854775807)), 0))
GROUP BY sender, playback ORDER BY sender, playback;
