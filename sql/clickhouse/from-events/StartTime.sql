-- StartTime as the core metrics define it, from events: from the request of the playback, else from its load, to the first frame, in ms.
-- A start, request or load that is missing is known by the time attributes of the event after it.
WITH read AS (
    SELECT sender, playback, weight, sequence, action, JSONExtractBool(attributes, 'inPlaybackBlock') AS plays, JSONExtractBool(attributes, 'joinedLate') AS is_late,
        JSONExtract(attributes, 'timeSinceMediaRequest', 'Nullable(Int64)') AS request_age, JSONExtract(attributes, 'timeSinceStreamLoad', 'Nullable(Int64)') AS load_age, JSONExtract(attributes, 'timeSinceStart', 'Nullable(Int64)') AS start_time_age,
        least(ifNull(JSONExtract(attributes, 'timeSinceEnd', 'Nullable(Int64)'), 9223372036854775807), ifNull(JSONExtract(attributes, 'timeSinceStop', 'Nullable(Int64)'), 9223372036854775807), ifNull(JSONExtract(attributes, 'timeSinceNext', 'Nullable(Int64)'), 9223372036854775807), ifNull(JSONExtract(attributes, 'timeSinceError', 'Nullable(Int64)'), 9223372036854775807)) AS end_age
    FROM events
), seen AS (
    SELECT *,
        max(action = 'MediaRequest') OVER earlier AS is_requested, max(action = 'StreamLoad') OVER earlier AS is_loaded,
        max(action = 'Start') OVER whole AS has_start, max(plays OR action = 'Start') OVER earlier AS has_played
    FROM read
    WINDOW earlier AS (PARTITION BY sender, playback ORDER BY sequence ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
        whole AS (PARTITION BY sender, playback)
), starts AS (
    SELECT *, if(action = 'Start', 0, start_time_age) AS start_age,
        is_requested OR ifNull(request_age < end_age, 0) AS from_request, is_loaded OR ifNull(load_age < end_age, 0) AS from_load
    FROM seen
    WHERE action = 'Start' OR (plays AND NOT has_played AND NOT has_start AND (is_requested OR is_loaded))
)
SELECT sender, playback, assumeNotNull(if(from_request, request_age, load_age) - start_age) AS value, weight
FROM starts
WHERE start_age IS NOT NULL AND NOT is_late AND (from_request OR from_load) AND if(from_request, request_age, load_age) IS NOT NULL
ORDER BY sender, playback;
