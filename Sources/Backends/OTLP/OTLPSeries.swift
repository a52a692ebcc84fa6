internal import Instrument

/// The metrics of a batch: measurements with the same name and attributes, combined.
struct OTLPSeries {
    struct Key: Hashable {
        let name: String
        let unit: String
        let kind: OTLPMeasurement.Kind
    }

    /// The measurements with the same attributes.
    struct Point {
        let attributes: [OTLPLog.Attribute]
        var histogram = ExponentialHistogram()
        var first: Int64
        var last: Int64
        /// Of a gauge the last reading.
        var value: Double
    }

    private struct Place: Hashable {
        let key: Key
        let attributes: [OTLPLog.Attribute]
    }

    /// The points of each key, in the order in which the keys came.
    private(set) var metrics: [(key: Key, points: [Point])] = []
    /// The positions of the keys in `metrics`.
    private var positions: [Key: Int] = [:]
    /// The positions of points: in `metrics`, and among the points of their key.
    private var places: [Place: (metric: Int, point: Int)] = [:]

    init(_ measurements: [OTLPMeasurement]) { for measurement in measurements { insert(measurement) } }

    private mutating func insert(_ measurement: OTLPMeasurement) {
        guard measurement.value.isFinite else { return }
        let key = Key(name: measurement.name, unit: measurement.unit, kind: measurement.kind)
        let time = measurement.time.nanoseconds
        // Each reading of a gauge is a point.
        let place = measurement.kind == .gauge ? nil : Place(key: key, attributes: measurement.attributes)
        if let place, let known = places[place] {
            return metrics[known.metric].points[known.point].add(measurement.value, at: time)
        }
        let metric = position(of: key)
        if let place { places[place] = (metric, metrics[metric].points.count) }
        var point = Point(attributes: measurement.attributes, first: time, last: time, value: 0)
        point.add(measurement.value, at: time)
        metrics[metric].points.append(point)
    }

    private mutating func position(of key: Key) -> Int {
        if let known = positions[key] { return known }
        positions[key] = metrics.count
        metrics.append((key, []))
        return metrics.count - 1
    }
}

extension OTLPSeries.Point {
    mutating func add(_ number: Double, at time: Int64) {
        histogram.insert(number)
        value = histogram.sum
        (first, last) = (min(first, time), max(last, time))
    }

    /// The start of the interval: a millisecond before the first measurement, because an interval must not be empty.
    var start: UInt64 { UInt64(max(0, first.saturatingSubtract(1_000_000))) }
    var end: UInt64 { UInt64(max(0, last)) }
}

extension WallTime {
    /// Nanoseconds since 1970; times before are 0, because OTLP has none.
    var nanoseconds: Int64 { max(0, milliseconds.saturatingMultiply(1_000_000)) }
}
