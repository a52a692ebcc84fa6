-- TimeToFirstByte: Time to the first byte of each request, in ms. All values of a session form a distribution.
SELECT sender, playback, count() AS count, toInt64(sum(toInt64(value))) AS sum, toInt64(min(value)) AS min, toInt64(max(value)) AS max,
    toInt64(quantileExactLow(0.5)(value)) AS median, toInt64(quantileExactHigh(0.95)(value)) AS p95, max(weight) AS weight
FROM metrics WHERE name = 'TimeToFirstByte'
GROUP BY sender, playback ORDER BY sender, playback;
