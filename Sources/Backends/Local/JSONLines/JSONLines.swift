public import Instrument
internal import InstrumentJSON
internal import InstrumentText

/// Samples as newline-delimited JSON: the format of the file and console backends, for custom backends.
///
/// One object a line: `id` (a UUID, the same at every attempt), `sequence`, `type` (`event` or `metric`),
/// `action` or `name`, `kind`, `unit` and `value`, `tracker`, `time` (ms since 1970), `instant` (ns of the
/// monotonic clock) and `attributes`. Equal samples give equal bytes.
public enum JSONLines {
    /// The records as lines, in their order, each ended by a line feed.
    public static func encode(_ records: [SampleRecord]) -> [UInt8] {
        var writer = JSONWriter(capacity: records.count * 1024)
        for record in records { SampleLine.write(record, to: &writer) }
        return writer.bytes
    }

    /// The name and version of the format, for systems that carry lines one by one.
    public static let schema = "instrument-sample/1"

    /// The line of each record, in their order, without line feeds.
    package static func encodeEach(_ records: [SampleRecord]) -> [[UInt8]] {
        let lines = LineEncoder().lines(of: records[...])
        return lines.bytes.withBytes { bytes in records.indices.map { Array(bytes[lines.line(at: $0)]) } }
    }

    /// Returns the record of one line, without its line feed.
    /// - Throws: ``JSONLinesError`` for a line in another format.
    public static func decode(_ line: [UInt8]) throws(JSONLinesError) -> SampleRecord {
        do throws(SampleLine.Failure) { return try SampleLine.read(line) } catch {
            throw JSONLinesError(description: error.description)
        }
    }
}

/// The reason why a line is not a sample.
public struct JSONLinesError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error in words, for people.
    public let description: String
}
