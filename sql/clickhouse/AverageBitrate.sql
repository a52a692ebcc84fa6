-- AverageBitrate: Mean bitrate of the media that was played, in bit/s. The latest value of a session counts.
SELECT sender, playback, argMax(value, (sequence, time)) AS value, max(weight) AS weight
FROM metrics WHERE name = 'AverageBitrate'
GROUP BY sender, playback ORDER BY sender, playback;
