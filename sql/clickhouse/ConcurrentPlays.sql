-- ConcurrentPlays: the most sessions of one instrument that played at the same time, from its pings; each recorded session counts with its weight.
SELECT replaceRegexpOne(sender, '-[0-9]+$', '') AS instrument, toInt64(max(value * weight)) AS value
FROM metrics WHERE name = 'ConcurrentPlays'
GROUP BY instrument ORDER BY instrument;
