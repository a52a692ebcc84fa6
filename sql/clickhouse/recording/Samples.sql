-- What a recording holds of each instrument: samples, copies of samples, and sequence numbers without a sample. All queries put the
-- samples in the order of their numbers and count a sample once, in whatever order and however often the recording has the sample.
SELECT replaceRegexpOne(JSONExtractString(attributes, 'senderId'), '-[^-]*$', '') AS instrument,
    toInt64(uniqExact(id)) AS samples, toInt64(count() - uniqExact(id)) AS copies,
    toInt64(max(sequence) - min(sequence) + 1 - uniqExact(sequence)) AS missing
FROM (
    SELECT id, sequence, attributes
    FROM file({recordings:String}, 'JSONEachRow', 'id Nullable(String), sequence UInt64, type String, attributes String')
    WHERE id IS NOT NULL AND type IN ('event', 'metric')
    SETTINGS input_format_json_read_objects_as_strings = 1, input_format_skip_unknown_fields = 1,
        input_format_allow_errors_ratio = 1, input_format_allow_errors_num = 1000000000
)
GROUP BY instrument ORDER BY instrument;
