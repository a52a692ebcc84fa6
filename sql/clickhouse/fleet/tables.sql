-- Tables of a ClickHouse server that collects the samples of a fleet. Run this file once, then kafka.sql or nats.sql beside it. Tables
-- that were made before there were the columns `stream`, `location` and `labels` get them by upgrade.sql, which comes before this file.
--   clickhouse-client --multiquery < sql/clickhouse/fleet/tables.sql
-- A line is one sample as JSON (docs/ndjson-schema.md). The queue and the brokers deliver at least once, so a sample may arrive twice:
-- the tables keep one row for each id, and every view reads them with FINAL, which hides copies that are not merged yet.
-- The queries of sql/clickhouse read the views `events` and `metrics`, here as well as over files.

-- Lines enter here, from Kafka, from NATS, or by hand:
--   clickhouse-client -q "INSERT INTO sample_lines FORMAT LineAsString" < samples.ndjson
CREATE TABLE IF NOT EXISTS sample_lines (line String) ENGINE = Null;

-- Every sample. `stream`, `location` and `labels` are those of a monitor, empty without one: GROUP BY labels['cdn']. Rows leave a year after their arrival: a device's clock may be wrong, so its time must not decide. For the same reason
-- times outside of the years 2020 to 2037 share one partition.
CREATE TABLE IF NOT EXISTS samples
(
    id UUID,
    sequence UInt64,
    type LowCardinality(String),
    action LowCardinality(String),
    name LowCardinality(String),
    kind LowCardinality(String),
    unit LowCardinality(String),
    value Nullable(Float64),
    tracker Int64,
    time Int64,
    instant Int64,
    service LowCardinality(String),
    sender String,
    playback String,
    attributes String CODEC(ZSTD(3)),
    arrived DateTime DEFAULT now(),
    stream LowCardinality(String) DEFAULT JSONExtractString(attributes, 'monitorStream'),
    location LowCardinality(String) DEFAULT JSONExtractString(attributes, 'monitorLocation'),
    labels Map(LowCardinality(String), String) DEFAULT JSONExtract(attributes, 'monitorLabels', 'Map(String, String)')
)
ENGINE = ReplacingMergeTree
PARTITION BY if(time BETWEEN 1577836800000 AND 2145916799999, toYYYYMM(fromUnixTimestamp64Milli(time, 'UTC')), 0)
ORDER BY (sender, playback, sequence, id)
TTL arrived + INTERVAL 1 YEAR;

CREATE MATERIALIZED VIEW IF NOT EXISTS samples_from_lines TO samples AS
SELECT
    toUUID(JSONExtractString(line, 'id')) AS id,
    JSONExtractUInt(line, 'sequence') AS sequence,
    JSONExtractString(line, 'type') AS type,
    JSONExtractString(line, 'action') AS action,
    JSONExtractString(line, 'name') AS name,
    JSONExtractString(line, 'kind') AS kind,
    JSONExtractString(line, 'unit') AS unit,
    JSONExtract(line, 'value', 'Nullable(Float64)') AS value,
    JSONExtractInt(line, 'tracker') AS tracker,
    JSONExtractInt(line, 'time') AS time,
    JSONExtractInt(line, 'instant') AS instant,
    JSONExtractString(line, 'service') AS service,
    JSONExtractString(line, 'attributes', 'senderId') AS sender,
    JSONExtractString(line, 'attributes', 'playbackId') AS playback,
    JSONExtractRaw(line, 'attributes') AS attributes
FROM sample_lines
WHERE isValidJSON(line) AND type IN ('event', 'metric') AND toUUIDOrNull(JSONExtractString(line, 'id')) IS NOT NULL;

-- Lines that are no samples, with the time of their arrival: nothing is lost without a trace.
CREATE TABLE IF NOT EXISTS broken_lines (line String, arrived DateTime DEFAULT now())
ENGINE = MergeTree ORDER BY arrived TTL arrived + INTERVAL 30 DAY;

CREATE MATERIALIZED VIEW IF NOT EXISTS broken_lines_from_lines TO broken_lines AS
SELECT line
FROM sample_lines
WHERE NOT (
    isValidJSON(line) AND JSONExtractString(line, 'type') IN ('event', 'metric')
    AND toUUIDOrNull(JSONExtractString(line, 'id')) IS NOT NULL
) AND line != '';

-- The values of metrics, narrow and in the order in which reports read them.
CREATE TABLE IF NOT EXISTS metric_values
(
    name LowCardinality(String),
    time Int64,
    sender String,
    playback String,
    label LowCardinality(String),
    sequence UInt64,
    id UUID,
    value Float64,
    weight UInt32 DEFAULT 1,
    arrived DateTime DEFAULT now(),
    stream LowCardinality(String),
    location LowCardinality(String),
    labels Map(LowCardinality(String), String)
)
ENGINE = ReplacingMergeTree
PARTITION BY if(time BETWEEN 1577836800000 AND 2145916799999, toYYYYMM(fromUnixTimestamp64Milli(time, 'UTC')), 0)
ORDER BY (name, sender, playback, label, sequence, id)
TTL arrived + INTERVAL 1 YEAR;

CREATE MATERIALIZED VIEW IF NOT EXISTS metric_values_from_samples TO metric_values AS
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

-- The views that the queries of sql/clickhouse read.
CREATE OR REPLACE VIEW events AS
SELECT toString(id) AS id, sequence, action, tracker, time, instant, attributes, stream, location, labels, sender, playback,
    least(greatest(JSONExtractInt(attributes, 'sampleWeight'), 1), 1000000000) AS weight
FROM samples FINAL WHERE type = 'event';

CREATE OR REPLACE VIEW metrics AS
SELECT toString(id) AS id, sequence, name, kind, unit, assumeNotNull(value) AS value, tracker, time, instant, attributes, stream, location,
    labels, sender, playback,
    least(greatest(JSONExtractInt(attributes, 'sampleWeight'), 1), 1000000000) AS weight
FROM samples FINAL WHERE type = 'metric' AND value IS NOT NULL;

-- One row for each session, metric and label: how the values of a session combine is in docs/ndjson-schema.md. Metrics of requests
-- are distributions and have their mean here.
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

-- The sessions of each hour: their number, mean and quantiles, for each metric. If only one of several sessions is recorded, each
-- recorded session counts as many times as its weight says.
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

-- The same for each stream of a monitor and each of its locations: one label of the stream is labels['cdn'].
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
