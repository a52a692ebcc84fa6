-- Reads the stream of the NATS backend into the tables of tables.sql. Replace server, subject, stream and consumer. It needs a version
-- of ClickHouse whose NATS engine reads JetStream (nats_stream, nats_consumer_name); without a stream the engine loses what is published
-- while it is not connected. Create the consumer before:
--   nats consumer add SAMPLES clickhouse --pull --ack explicit --deliver all
--   clickhouse-client --multiquery < sql/clickhouse/fleet/nats.sql
CREATE TABLE IF NOT EXISTS nats_lines (line String)
ENGINE = NATS
SETTINGS
    nats_url = 'nats.example.org:4222',
    nats_subjects = 'samples',
    nats_stream = 'SAMPLES',
    nats_consumer_name = 'clickhouse',
    nats_format = 'LineAsString';

CREATE MATERIALIZED VIEW IF NOT EXISTS lines_from_nats TO sample_lines AS
SELECT line FROM nats_lines;
