import Instrument
import InstrumentCompression

/// Samples for the tests of all open backends.
enum Samples {
    static let log: UInt64 = 0x0123_4567_89AB_CDEF
    /// 2026-01-01T00:00:00Z.
    static let time: Int64 = 1_767_225_600_000

    static func id(_ number: UInt64) -> SampleID { SampleID(log: log, sequence: number) }

    static func timestamp(_ milliseconds: Int64 = time) -> Timestamp {
        Timestamp(
            instant: MonotonicInstant(nanoseconds: 5_000_000),
            wallTime: WallTime(milliseconds: milliseconds)
        )
    }

    /// The attributes of a stream of a monitor.
    static func stream(_ name: String, _ labels: [String: String] = ["cdn": "alpha"]) -> Attributes {
        ["monitorStream": .string(name), "monitorLocation": "oslo", "monitorLabels": labels.attributeValue]
    }

    static func record(_ sample: Sample, _ number: UInt64 = 0) -> SampleRecord {
        SampleRecord(id: id(number), sequence: number, sample: sample)
    }

    static func records(_ samples: [Sample]) -> [SampleRecord] {
        samples.enumerated().map { record($1, UInt64($0)) }
    }

    static func event(
        _ action: Action = .ping,
        at milliseconds: Int64 = time,
        tracker: Int = 0,
        _ attributes: Attributes = [:]
    ) -> Sample {
        .event(
            Event(action, tracker: TrackerID(tracker), time: timestamp(milliseconds), attributes: attributes)
        )
    }

    static func metric(
        _ name: MetricName,
        _ value: Metric.Value,
        at milliseconds: Int64 = time,
        _ attributes: Attributes = [:]
    ) -> Sample {
        .metric(
            Metric(name, value, tracker: TrackerID(0), time: timestamp(milliseconds), attributes: attributes)
        )
    }
}

func unpacked(_ body: [UInt8]) -> [UInt8] {
    guard body.starts(with: Gzip.beginning) else { return body }
    var gunzip = Gunzip()
    var bytes: [UInt8] = []
    try? gunzip.unpack(body) { bytes += $0 }
    return bytes
}
