-- NumRebuffers as the core metrics define it, from events: Stalls during playback.
SELECT sender, playback, toInt64(count()) AS value, max(weight) AS weight
FROM events
WHERE action = 'BufferFinish' AND JSONExtractBool(attributes, 'inPlaybackBlock') AND NOT JSONExtractBool(attributes, 'inPauseBlock') AND NOT JSONExtractBool(attributes, 'inSeekBlock')
GROUP BY sender, playback ORDER BY sender, playback;
