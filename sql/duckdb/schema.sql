-- Views of recordings: set the variable to a file or a pattern, then read this file, then a query of this directory.
--   SET VARIABLE recordings = 'samples*.ndjson';
-- Plain files and files compressed with gzip. Damaged lines are skipped. A sample that is recorded twice counts once.
-- `weight` is the number of sessions that a session stands for: sum(value * weight) is an unbiased sum over sessions.
-- `stream`, `location` and `labels` are those of a monitor, NULL without one: GROUP BY labels->>'cdn'.
-- docs/ndjson-schema.md describes the columns.
CREATE OR REPLACE TEMP TABLE samples AS
SELECT DISTINCT ON (id) *
FROM read_ndjson(
    getvariable('recordings'),
    columns = {
        id: 'VARCHAR', sequence: 'UBIGINT', type: 'VARCHAR', action: 'VARCHAR', name: 'VARCHAR', kind: 'VARCHAR', unit: 'VARCHAR',
        value: 'DOUBLE', tracker: 'BIGINT', time: 'BIGINT', instant: 'BIGINT', service: 'VARCHAR', attributes: 'JSON'
    },
    ignore_errors = true,
    maximum_object_size = 16777216
)
WHERE id IS NOT NULL AND type IN ('event', 'metric') AND attributes IS NOT NULL;

CREATE OR REPLACE TEMP VIEW events AS
SELECT id, sequence, action, tracker, time, instant, attributes,
    attributes->>'monitorStream' AS stream, attributes->>'monitorLocation' AS location, attributes->'monitorLabels' AS labels,
    attributes->>'senderId' AS sender, attributes->>'playbackId' AS playback,
    least(greatest(coalesce(TRY_CAST(attributes->>'sampleWeight' AS BIGINT), 1), 1), 1000000000) AS weight
FROM samples WHERE type = 'event';

CREATE OR REPLACE TEMP VIEW metrics AS
SELECT id, sequence, name, kind, unit, value, tracker, time, instant, attributes,
    attributes->>'monitorStream' AS stream, attributes->>'monitorLocation' AS location, attributes->'monitorLabels' AS labels,
    attributes->>'senderId' AS sender, attributes->>'playbackId' AS playback,
    least(greatest(coalesce(TRY_CAST(attributes->>'sampleWeight' AS BIGINT), 1), 1), 1000000000) AS weight
FROM samples WHERE type = 'metric';
