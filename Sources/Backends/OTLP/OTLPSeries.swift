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

    private(set) var order: [Key] = []
    private(set) var points: [Key: [Point]] = [:]
    /// The index of each point among those of its key.
    private var places: [Place: Int] = [:]

    init(_ measurements: [OTLPMeasurement]) { for measurement in measurements { insert(measurement) } }

    private mutating func insert(_ measurement: OTLPMeasurement) {
        guard measurement.value.isFinite else { return }
        let key = Key(name: measurement.name, unit: measurement.unit, kind: measurement.kind)
        if points[key] == nil { order.append(key) }
        let time = measurement.time.nanoseconds
        let place = Place(key: key, attributes: measurement.attributes)
        // Each reading of a gauge is a point.
        if measurement.kind != .gauge, let index = places[place] {
            points[key]?[index].add(measurement.value, at: time)
        } else {
            places[place] = points[key]?.count ?? 0
            var point = Point(attributes: measurement.attributes, first: time, last: time, value: 0)
            point.add(measurement.value, at: time)
            points[key, default: []].append(point)
        }
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
