-- Adds the columns `stream`, `location` and `labels` to tables that an earlier tables.sql made. May be run again, and while samples arrive.
--   clickhouse-client --multiquery < sql/clickhouse/fleet/upgrade.sql
-- Old rows of `samples` have the new columns at once, computed from their attributes. Rows of `metric_values` that are older than
-- this upgrade have empty ones; the last statement, which is a comment, fills them, and takes as long as reading all metrics.
-- A test compares what this file makes with tables.sql.
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

CREATE OR REPLACE VIEW events AS
SELECT toString(id) AS id, sequence, action, tracker, time, instant, attributes, stream, location, labels, sender, playback,
    least(greatest(JSONExtractInt(attributes, 'sampleWeight'), 1), 1000000000) AS weight
FROM samples FINAL WHERE type = 'event';

CREATE OR REPLACE VIEW metrics AS
SELECT toString(id) AS id, sequence, name, kind, unit, assumeNotNull(value) AS value, tracker, time, instant, attributes, stream, location,
    labels, sender, playback,
    least(greatest(JSONExtractInt(attributes, 'sampleWeight'), 1), 1000000000) AS weight
FROM samples FINAL WHERE type = 'metric' AND value IS NOT NULL;

CREATE OR REPLACE VIEW session_metrics AS
SELECT
    name, sender, playback, label,
    multiIf(
        name IN ('StartTime', 'PrerollTime'), min(value),
        name IN (
            'RebufferRatio', 'RebufferFrequency', 'TimeBetweenRebuffers', 'AverageBitrate', 'LatencyDrift', 'LiveLatency'
        ), argMax(value, (sequence, time)),
        name IN ('Throughput', 'TimeToFirstByte', 'AdStartTime', 'AdFillRate'), avg(value),
        name = 'ConcurrentPlays', max(value),
        sum(value)
    ) AS value,
    max(weight) AS weight,
    min(time) AS first_time,
    any(stream) AS stream, any(location) AS location, any(labels) AS labels
FROM metric_values FINAL
GROUP BY name, sender, playback, label;

CREATE OR REPLACE VIEW metrics_by_hour AS
SELECT
    toStartOfHour(toDateTime(fromUnixTimestamp64Milli(first_time, 'UTC'))) AS hour,
    name, label,
    sum(session_metrics.weight) AS sessions,
    sum(session_metrics.value * session_metrics.weight) / sum(session_metrics.weight) AS mean,
    quantileExactWeighted(0.5)(session_metrics.value, session_metrics.weight) AS median,
    quantileExactWeighted(0.95)(session_metrics.value, session_metrics.weight) AS p95
FROM session_metrics
GROUP BY hour, name, label;

CREATE OR REPLACE VIEW metrics_by_stream AS
SELECT
    toStartOfHour(toDateTime(fromUnixTimestamp64Milli(first_time, 'UTC'))) AS hour,
    stream, location, name, label,
    any(session_metrics.labels) AS labels,
    sum(session_metrics.weight) AS sessions,
    sum(session_metrics.value * session_metrics.weight) / sum(session_metrics.weight) AS mean,
    quantileExactWeighted(0.5)(session_metrics.value, session_metrics.weight) AS median,
    quantileExactWeighted(0.95)(session_metrics.value, session_metrics.weight) AS p95
FROM session_metrics
WHERE stream != ''
GROUP BY hour, stream, location, name, label;

-- Fills the columns of old metrics: copies with the same key replace the old rows.
-- INSERT INTO metric_values (name, time, sender, playback, label, sequence, id, value, weight, arrived, stream, location, labels)
-- SELECT name, time, sender, playback, label, sequence, id, metric_values.value, weight, metric_values.arrived,
--     samples.stream, samples.location, samples.labels
-- FROM metric_values INNER JOIN samples USING (sender, playback, sequence, id);
