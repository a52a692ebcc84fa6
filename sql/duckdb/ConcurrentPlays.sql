-- ConcurrentPlays: the most sessions of one instrument that played at the same time, from its pings; each recorded session counts with its weight.
SELECT regexp_replace(sender, '-[0-9]+$', '') AS instrument, max(value * weight)::BIGINT AS value
FROM metrics WHERE name = 'ConcurrentPlays'
GROUP BY ALL ORDER BY ALL;
