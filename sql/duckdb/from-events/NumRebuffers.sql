-- NumRebuffers as the core metrics define it, from events: Stalls during playback.
-- A stall whose finish is missing has the length by which accumBufferTime grew; without that sum, it ends with the first event that
-- reports its end. A stall that is missing as a whole counts by the growth alone.
WITH read AS (
    SELECT sender, playback, weight, sequence, action, instant // 1000000 AS now,
        (attributes->>'inBufferBlock')::BOOLEAN AS buffers,
        coalesce((attributes->>'inPlaybackBlock')::BOOLEAN, false) AS plays,
        coalesce((attributes->>'inPauseBlock')::BOOLEAN, false) OR coalesce((attributes->>'inSeekBlock')::BOOLEAN, false) AS is_excused,
        action IN ('End', 'Stop', 'Next') OR (action = 'Error' AND coalesce((attributes->>'isFatal')::BOOLEAN, false)) AS ends,
        (attributes->>'accumBufferTime')::BIGINT AS total, (attributes->>'timeSinceBufferBegin')::BIGINT AS age
    FROM events
), before AS (
    SELECT *,
        coalesce(lag(plays AND NOT ends) OVER playbacks, false) AS played,
        coalesce(lag(buffers AND NOT ends) OVER playbacks, false) AS buffered,
        coalesce(lag(is_excused AND NOT ends) OVER playbacks, false) AS was_excused,
        greatest(coalesce(total - lag(CASE WHEN ends THEN NULL ELSE total END) OVER playbacks, 0), 0) AS growth
    FROM read
    WINDOW playbacks AS (PARTITION BY sender, playback ORDER BY sequence)
), begun AS (
    SELECT *,
        max(CASE WHEN action = 'BufferBegin' OR (coalesce(buffers, false) AND NOT buffered) THEN sequence END) OVER earlier AS begin_number
    FROM before
    WINDOW earlier AS (PARTITION BY sender, playback ORDER BY sequence ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
), stalls AS (
    SELECT begun.*, coalesce(first.is_excused, false) AS is_stall_excused, coalesce(begun.age, begun.now - first.now, 0) AS elapsed
    FROM begun LEFT JOIN read AS first
        ON first.sender IS NOT DISTINCT FROM begun.sender AND first.playback IS NOT DISTINCT FROM begun.playback
        AND first.sequence = begun.begin_number
), parts AS (
    SELECT sender, playback, weight, age AS value FROM stalls WHERE action = 'BufferFinish' AND plays AND NOT is_excused
    UNION ALL
    SELECT sender, playback, weight, growth - coalesce(age, growth) AS value FROM stalls
    WHERE action = 'BufferFinish' AND played AND growth > coalesce(age, growth) AND NOT was_excused AND NOT is_stall_excused
    UNION ALL
    SELECT sender, playback, weight, CASE WHEN growth > 0 THEN growth ELSE greatest(elapsed, 0) END AS value FROM stalls
    WHERE action <> 'BufferFinish' AND played AND buffered AND NOT is_stall_excused AND (growth > 0 OR NOT ends)
        AND CASE WHEN action = 'BufferBegin' THEN buffers IS NOT NULL ELSE coalesce(NOT buffers, false) END
    UNION ALL
    SELECT sender, playback, weight, growth AS value FROM stalls
    WHERE action <> 'BufferFinish' AND played AND NOT buffered AND growth > 0 AND NOT was_excused
)
SELECT sender, playback, count(*) AS value, max(weight) AS weight
FROM parts
GROUP BY ALL ORDER BY ALL;
