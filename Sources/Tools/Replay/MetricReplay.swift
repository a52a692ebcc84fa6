package import Instrument
internal import InstrumentBackends

/// Computes the metrics of recorded events again, with one metricalc for each instrument, as each instrument did live.
///
/// The instrument is the part of `senderId` before the tracker's number. Events of one instrument must be in their
/// order; those of different instruments may be mixed. Memory grows with the number of instruments.
package struct MetricReplay: Sendable {
    private struct Replayed {
        let instrument: Substring
        var metricalc: any Metricalc
        /// As a chain does with the default name of the attribute.
        var persons = PersonTable(key: .userId)
        var trackers: Set<TrackerID> = []

        mutating func metrics(of event: Event) -> [Metric] {
            var metrics: [Metric] = []
            metricalc.process(event, into: &metrics)
            persons.name(&metrics, of: event)
            trackers.insert(event.tracker)
            return metrics
        }

        /// Removes all trackers in the order in which a shutdown removes them, and returns their last metrics.
        mutating func finish() -> [Metric] {
            trackers.sorted(by: >).flatMap { tracker in
                var metrics: [Metric] = []
                metricalc.forget(tracker, into: &metrics)
                persons.name(&metrics, ofRemoved: tracker)
                return metrics
            }
        }
    }

    private let makeMetricalc: @Sendable () -> any Metricalc
    private var replayed: [Replayed] = []
    /// The place of each instrument.
    private var places: [Substring: Int] = [:]
    /// The sender of the latest event, and the place of its instrument.
    private var latest: (sender: String?, place: Int)?

    /// Creates a replay whose metricalcs are new.
    package init(_ makeMetricalc: @escaping @Sendable () -> any Metricalc) { self.makeMetricalc = makeMetricalc }

    /// The metrics that follow from an event.
    package mutating func metrics(of event: Event) -> [Metric] {
        let place = place(of: event[.senderId])
        return replayed[place].metrics(of: event)
    }

    /// Removes all trackers of one instrument after the other, by their names, and returns their last metrics.
    package mutating func finish() -> [Metric] {
        var sorted = replayed.sorted { $0.instrument.utf8.lexicographicallyPrecedes($1.instrument.utf8) }
        (replayed, places, latest) = ([], [:], nil)
        return sorted.indices.flatMap { sorted[$0].finish() }
    }

    private mutating func place(of sender: String?) -> Int {
        if let latest, latest.sender == sender { return latest.place }
        let name = sender.map { text in text.lastIndex(of: "-").map { text[..<$0] } ?? text[...] } ?? ""
        let place = places[name] ?? add(name)
        latest = (sender, place)
        return place
    }

    private mutating func add(_ instrument: Substring) -> Int {
        var metricalc = makeMetricalc()
        metricalc.ready()
        replayed.append(Replayed(instrument: instrument, metricalc: metricalc))
        places[instrument] = replayed.count - 1
        return replayed.count - 1
    }
}

/// Replaces the recorded metrics of a recording by computed ones, whose identifiers are the same at every replay.
package struct Recomputation: Sendable {
    private var replay: MetricReplay
    /// The latest record of an event, for the last metrics: their numbers follow it.
    private var latest: SampleRecord?

    /// Creates a recomputation.
    package init(_ makeMetricalc: @escaping @Sendable () -> any Metricalc) { replay = MetricReplay(makeMetricalc) }

    /// The records in place of a record: for an event its metrics and the event, in the order of an instrument's queue;
    /// nothing for a recorded metric.
    package mutating func records(for record: SampleRecord) -> [SampleRecord] {
        guard case .event(let event) = record.sample else { return [] }
        latest = record
        let metrics = replay.metrics(of: event).enumerated().map { position, metric in
            SampleRecord(
                id: Self.identifier(of: metric.name, position, record.id),
                sequence: record.sequence,
                sample: .metric(metric),
                service: record.service
            )
        }
        return metrics + [record]
    }

    /// The last metrics of all trackers, as if the instruments were shut down after the latest event.
    ///
    /// The identifier of a metric depends on the metric alone: its name and value, its tracker and time, and its
    /// attributes.
    package mutating func finish() -> [SampleRecord] {
        guard let latest else { return [] }
        return replay.finish().map { metric in
            SampleRecord(
                id: Self.identifier(ofLast: metric),
                sequence: latest.sequence,
                sample: .metric(metric),
                service: latest.service
            )
        }
    }

    /// A UUID of version 4's form that depends on the event, the metric and its position among the event's metrics
    /// alone.
    static func identifier(of name: MetricName, _ position: Int, _ event: SampleID) -> SampleID {
        identifier(of: Array("\(event)/\(name.spelling)/\(position)".utf8))
    }

    private static func identifier(ofLast metric: Metric) -> SampleID {
        let record = SampleRecord(id: SampleID(log: 0, sequence: 0), sequence: 0, sample: .metric(metric))
        return identifier(of: JSONLines.encode([record]))
    }

    private static func identifier(of bytes: [UInt8]) -> SampleID {
        let digest = SHA256.digest(of: bytes)
        let half = { (start: Int) in digest[start..<start + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        return SampleID(
            high: half(0) & 0xFFFF_FFFF_FFFF_0FFF | 0x4000,
            low: half(8) & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        )
    }
}
