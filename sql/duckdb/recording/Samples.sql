-- What a recording holds of each instrument: samples, copies of samples, and sequence numbers without a sample. All queries put the
-- samples in the order of their numbers and count a sample once, in whatever order and however often the recording has the sample.
SELECT regexp_replace(coalesce(attributes->>'senderId', ''), '-[^-]*$', '') AS instrument,
    count(DISTINCT id) AS samples, count(*) - count(DISTINCT id) AS copies,
    (max(sequence) - min(sequence) + 1 - count(DISTINCT sequence))::BIGINT AS missing
FROM read_ndjson(
    getvariable('recordings'),
    columns = { id: 'VARCHAR', sequence: 'UBIGINT', type: 'VARCHAR', attributes: 'JSON' },
    ignore_errors = true,
    maximum_object_size = 16777216
)
WHERE id IS NOT NULL AND type IN ('event', 'metric') AND attributes IS NOT NULL
GROUP BY ALL ORDER BY ALL;
