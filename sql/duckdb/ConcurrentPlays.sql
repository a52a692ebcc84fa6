-- ConcurrentPlays: the most sessions of one instrument that played at the same time, from its pings.
SELECT regexp_replace(sender, '-[0-9]+$', '') AS instrument, max(value)::BIGINT AS value
FROM metrics WHERE name = 'ConcurrentPlays'
GROUP BY ALL ORDER BY ALL;
