-- ConcurrentPlays: the most sessions of one instrument that played at the same time, from its pings.
SELECT replaceRegexpOne(sender, '-[0-9]+$', '') AS instrument, toInt64(max(value)) AS value
FROM metrics WHERE name = 'ConcurrentPlays'
GROUP BY instrument ORDER BY instrument;
