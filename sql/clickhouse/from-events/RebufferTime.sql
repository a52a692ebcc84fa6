-- RebufferTime as the core metrics define it, from events: Stalls during playback, in ms.
-- A stall whose finish is missing has the length by which accumBufferTime grew; without that sum, it ends with the first event that
-- reports its end. A stall that is missing as a whole counts by the growth alone.
WITH read AS (
    SELECT sender, playback, weight, sequence, action, intDiv(instant, 1000000) AS now,
        JSONHas(attributes, 'inBufferBlock') AS reports, JSONExtractBool(attributes, 'inBufferBlock') AS buffers, JSONExtractBool(attributes, 'inPlaybackBlock') AS plays,
        JSONExtractBool(attributes, 'inPauseBlock') OR JSONExtractBool(attributes, 'inSeekBlock') AS is_excused,
        action IN ('End', 'Stop', 'Next') OR (action = 'Error' AND JSONExtractBool(attributes, 'isFatal')) AS ends,
        JSONExtract(attributes, 'accumBufferTime', 'Nullable(Int64)') AS total, JSONExtract(attributes, 'timeSinceBufferBegin', 'Nullable(Int64)') AS age
    FROM events
), before AS (
    SELECT *,
        max(plays AND NOT ends) OVER previous AS played, max(buffers AND NOT ends) OVER previous AS buffered,
        max(is_excused AND NOT ends) OVER previous AS was_excused,
        greatest(ifNull(total - max(if(ends, NULL, total)) OVER previous, 0), 0) AS growth
    FROM read
    WINDOW previous AS (PARTITION BY sender, playback ORDER BY sequence ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING)
), begun AS (
    SELECT *,
        argMax((is_excused, now), if(action = 'BufferBegin' OR (buffers AND NOT buffered), toInt64(sequence), -1)) OVER earlier AS begin,
        max(action = 'BufferBegin' OR (buffers AND NOT buffered)) OVER earlier AS has_begun
    FROM before
    WINDOW earlier AS (PARTITION BY sender, playback ORDER BY sequence ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
), stalls AS (
    SELECT *, has_begun AND begin.1 AS is_stall_excused,
        greatest(ifNull(age, if(has_begun, now - begin.2, 0)), 0) AS elapsed,
        action = 'BufferFinish' AS is_finish,
        if(is_finish AND plays AND NOT is_excused, 1, 0) AS whole,
        multiIf(
            NOT played, 0,
            is_finish, growth > ifNull(age, growth) AND NOT was_excused AND NOT is_stall_excused,
            buffered, NOT is_stall_excused AND (growth > 0 OR NOT ends) AND reports AND (action = 'BufferBegin' OR NOT buffers),
            growth > 0 AND NOT was_excused
        ) AS missing,
        multiIf(is_finish, growth - ifNull(age, growth), growth > 0, growth, elapsed) AS missing_time
    FROM begun
)
SELECT sender, playback, toInt64(sum(whole * ifNull(age, 0) + missing * missing_time)) AS value, max(weight) AS weight
FROM stalls WHERE whole OR missing
GROUP BY sender, playback ORDER BY sender, playback;
