-- Views of recordings, for clickhouse-local and chDB: set the parameter to a file or a pattern, then read this file, then a query
-- of this directory.
--   SET param_recordings = 'samples*.ndjson';
-- Plain files and files compressed with gzip. Damaged lines are skipped. A sample that is recorded twice counts once.
-- `weight` is the number of sessions that a session stands for: sum(value * weight) is an unbiased sum over sessions.
-- `stream`, `location` and `labels` are those of a monitor, empty without one: GROUP BY labels['cdn'].
-- docs/ndjson-schema.md describes the columns.
CREATE OR REPLACE TABLE samples ENGINE = Memory AS
SELECT *
FROM file(
    {recordings:String}, 'JSONEachRow',
    'id Nullable(String), sequence UInt64, type String, action String, name String, kind String, unit String, value Nullable(Float64),
     tracker Int64, time Int64, instant Int64, service Nullable(String), attributes String'
)
WHERE id IS NOT NULL AND type IN ('event', 'metric')
LIMIT 1 BY id
SETTINGS input_format_json_read_objects_as_strings = 1, input_format_skip_unknown_fields = 1, precise_float_parsing = 1,
    input_format_allow_errors_ratio = 1, input_format_allow_errors_num = 1000000000;

CREATE OR REPLACE VIEW events AS
SELECT id, sequence, action, tracker, time, instant, attributes,
    JSONExtractString(attributes, 'monitorStream') AS stream, JSONExtractString(attributes, 'monitorLocation') AS location,
    JSONExtract(attributes, 'monitorLabels', 'Map(String, String)') AS labels,
    JSONExtractString(attributes, 'senderId') AS sender, JSONExtractString(attributes, 'playbackId') AS playback,
    least(greatest(JSONExtractInt(attributes, 'sampleWeight'), 1), 1000000000) AS weight
FROM samples WHERE type = 'event';

CREATE OR REPLACE VIEW metrics AS
SELECT id, sequence, name, kind, unit, assumeNotNull(value) AS value, tracker, time, instant, attributes,
    JSONExtractString(attributes, 'monitorStream') AS stream, JSONExtractString(attributes, 'monitorLocation') AS location,
    JSONExtract(attributes, 'monitorLabels', 'Map(String, String)') AS labels,
    JSONExtractString(attributes, 'senderId') AS sender, JSONExtractString(attributes, 'playbackId') AS playback,
    least(greatest(JSONExtractInt(attributes, 'sampleWeight'), 1), 1000000000) AS weight
FROM samples WHERE type = 'metric' AND value IS NOT NULL;
