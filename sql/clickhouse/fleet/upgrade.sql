-- Adds the columns `stream`, `location` and `labels` to tables that an earlier tables.sql made. May be run again, and while samples arrive.
--   cat sql/clickhouse/fleet/upgrade.sql sql/clickhouse/fleet/tables.sql | clickhouse-client --multiquery
-- tables.sql, which follows, replaces the views by those with the columns.
-- Old rows of `samples` have the new columns at once, computed from their attributes. Rows of `metric_values` that are older than
-- this upgrade have empty ones; the last statement, which is a comment, fills them, and takes as long as reading all metrics.
-- A test compares what both files make of old tables with what tables.sql makes alone.
ALTER TABLE samples
    ADD COLUMN IF NOT EXISTS stream LowCardinality(String) DEFAULT JSONExtractString(attributes, 'monitorStream'),
    ADD COLUMN IF NOT EXISTS location LowCardinality(String) DEFAULT JSONExtractString(attributes, 'monitorLocation'),
    ADD COLUMN IF NOT EXISTS labels Map(LowCardinality(String), String) DEFAULT JSONExtract(attributes, 'monitorLabels', 'Map(String, String)');

ALTER TABLE metric_values
    ADD COLUMN IF NOT EXISTS stream LowCardinality(String),
    ADD COLUMN IF NOT EXISTS location LowCardinality(String),
    ADD COLUMN IF NOT EXISTS labels Map(LowCardinality(String), String);

ALTER TABLE metric_values_from_samples MODIFY QUERY
SELECT
    name, time, sender, playback,
    multiIf(
        name = 'TimeInQuality', JSONExtractString(attributes, 'rendition'),
        name = 'PlaybackRateTime', JSONExtractString(attributes, 'rate'),
        name = 'NumAdErrors' AND JSONHas(attributes, 'adErrorCode'), JSONExtractRaw(attributes, 'adErrorCode'),
        name = 'NumAdErrors', JSONExtractString(attributes, 'errorCode'),
        ''
    ) AS label,
    sequence, id, assumeNotNull(value) AS value,
    toUInt32(least(greatest(JSONExtractInt(attributes, 'sampleWeight'), 1), 1000000000)) AS weight,
    stream, location, labels
FROM samples
WHERE type = 'metric' AND value IS NOT NULL;

-- Fills the columns of old metrics: copies with the same key replace the old rows.
-- INSERT INTO metric_values (name, time, sender, playback, label, sequence, id, value, weight, arrived, stream, location, labels)
-- SELECT name, time, sender, playback, label, sequence, id, metric_values.value, weight, metric_values.arrived,
--     samples.stream, samples.location, samples.labels
-- FROM metric_values INNER JOIN samples USING (sender, playback, sequence, id);
