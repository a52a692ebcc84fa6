-- Throughput: Bit/s of each request. All values of a session form a distribution.
SELECT sender, playback, count(*) AS count, sum(value)::HUGEINT AS sum, min(value)::BIGINT AS min, max(value)::BIGINT AS max,
    quantile_disc(value, 0.5)::BIGINT AS median, quantile_disc(value, 0.95)::BIGINT AS p95, max(weight) AS weight
FROM metrics WHERE name = 'Throughput'
GROUP BY ALL ORDER BY ALL;
