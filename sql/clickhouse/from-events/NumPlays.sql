-- NumPlays as the core metrics define it, from events: Playbacks started.
-- A playback that was asked for and plays has started, although the event is missing.
SELECT sender, playback,
    toInt64(greatest(countIf(action = 'Start'), max(
        action IN ('MediaRequest', 'StreamLoad') AND JSONHas(attributes, 'inPlaybackBlock') AND NOT JSONExtractBool(attributes, 'inPlaybackBlock')
    ) AND max(JSONExtractBool(attributes, 'inPlaybackBlock')))) AS value,
    max(weight) AS weight
FROM events
GROUP BY sender, playback HAVING value > 0 ORDER BY sender, playback;
