-- Reads the topic of the Kafka backend into the tables of tables.sql. Replace brokers and topic. One consumer for each partition at most.
--   clickhouse-client --multiquery < sql/clickhouse/fleet/kafka.sql
-- A message's value is one line; LineAsString takes it as it is, so no message blocks the consumer.
CREATE TABLE IF NOT EXISTS kafka_lines (line String)
ENGINE = Kafka
SETTINGS
    kafka_broker_list = 'kafka-1.example.org:9092,kafka-2.example.org:9092',
    kafka_topic_list = 'samples',
    kafka_group_name = 'clickhouse',
    kafka_format = 'LineAsString',
    kafka_num_consumers = 2,
    kafka_max_block_size = 65536;

CREATE MATERIALIZED VIEW IF NOT EXISTS lines_from_kafka TO sample_lines AS
SELECT line FROM kafka_lines;
