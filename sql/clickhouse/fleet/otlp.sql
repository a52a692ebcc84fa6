-- Sessions over the table of the OpenTelemetry Collector's ClickHouse exporter (otel-collector.yaml beside this file), which has the events that
-- --backend otlp:URL sends as log records. One row for each session; a record that came twice counts once, by its identifier.
--   clickhouse-client --database otel --multiquery < sql/clickhouse/fleet/otlp.sql
--   SELECT count() AS starts, quantileExactLow(0.5)(start_time) AS median FROM otlp_sessions WHERE start_time IS NOT NULL
-- The metrics are in otel_metrics_sum, otel_metrics_gauge and otel_metrics_exp_histogram, added up and without sessions. For figures of sessions
-- use Kafka, NATS or files, whose lines have every sample.
CREATE VIEW IF NOT EXISTS otlp_sessions AS
SELECT
    sender, playback,
    minIf(time, event = 'openavt.media_request') AS requested,
    -- Milliseconds from the request to the first picture, NULL without one.
    if(countIf(event = 'openavt.start') > 0 AND countIf(event = 'openavt.media_request') > 0,
        minIf(time, event = 'openavt.start') - requested, NULL) AS start_time,
    countIf(event = 'openavt.start') AS starts,
    countIf(event = 'openavt.error' AND severity = 'FATAL') AS failures,
    countIf(event = 'openavt.end') AS ends
FROM (
    SELECT
        LogAttributes['log.record.uid'] AS uid,
        any(LogAttributes['openavt.senderId']) AS sender, any(LogAttributes['session.id']) AS playback,
        any(EventName) AS event, any(SeverityText) AS severity, any(toUnixTimestamp64Milli(Timestamp)) AS time
    FROM otel_logs
    WHERE LogAttributes['session.id'] != ''
    GROUP BY uid
)
GROUP BY sender, playback;
