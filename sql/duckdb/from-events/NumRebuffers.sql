-- NumRebuffers as the core metrics define it, from events: Stalls during playback.
SELECT sender, playback, count(*) AS value, max(weight) AS weight
FROM events
WHERE action = 'BufferFinish' AND coalesce((attributes->>'inPlaybackBlock')::BOOLEAN, false) AND NOT coalesce((attributes->>'inPauseBlock')::BOOLEAN, false) AND NOT coalesce((attributes->>'inSeekBlock')::BOOLEAN, false)
GROUP BY ALL ORDER BY ALL;
