import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@Suite("Metricalc contract")
struct MetricalcContractTests {
    @Test("The built-in metricalcs keep the contract", arguments: Rounds.seeds(3))
    func ours(seed: UInt64) throws {
        try MetricalcContract.check(seed: seed) { CoreMetricalc() }
        try MetricalcContract.check(seed: seed) { MultiplexMetricalc([CoreMetricalc(), CoreMetricalc()]) }
        try MetricalcContract.check(seed: seed) { MultiplexMetricalc([]) }
    }

    /// A promise that a metricalc breaks.
    enum Fault: CaseIterable {
        case tossesCoin, tellsTime, sharesState, turnsSigns, isReference
        case clearsList, changesList, insertsFirst
        case namesOtherTracker, namesOtherTime, isNotFinite, isInfinite, mixesKinds, mixesUnits
        case neverForgets, keepsCounts, forgetsAll
        case clearsAtLast, repeatsLast, countsOthersAtLast, namesOtherTrackerAtLast

        var promise: String {
            switch self {
            case .tossesCoin, .tellsTime, .sharesState, .turnsSigns: "the same events give the same metrics"
            case .isReference: "a copy of a metricalc is independent of the original"
            case .clearsList, .changesList, .insertsFirst: "metrics are appended to the existing ones"
            case .namesOtherTracker, .namesOtherTime: "a metric has the tracker and the time of its event"
            case .isNotFinite, .isInfinite: "a metric's value is finite"
            case .mixesKinds, .mixesUnits: "all metrics of one name have one kind and one unit"
            case .neverForgets, .keepsCounts: "a metricalc that has forgotten all trackers behaves like a new one"
            case .clearsAtLast: "last metrics are appended to the existing ones"
            case .repeatsLast: "the last metrics of a tracker are appended once"
            case .countsOthersAtLast: "the last metrics of a tracker do not depend on other trackers"
            case .namesOtherTrackerAtLast:
                "a last metric has its tracker, the time of the tracker's latest event and a finite value"
            case .forgetsAll: "forgetting an unknown tracker changes nothing"
            }
        }
    }

    /// The core metricalc, with one fault.
    private struct FaultyMetricalc: Metricalc {
        private final class Box: Sendable {
            let count = Lock(0)
            func next() -> Int {
                count.withLock { count in
                    count += 1
                    return count
                }
            }
        }
        private static let shared = Box()
        private static let name = MetricName("Faulty", .gauge)

        let fault: Fault
        private var metricalc = CoreMetricalc()
        private var counts: [TrackerID: Int] = [:]
        private var times: [TrackerID: Timestamp] = [:]
        private let box = Box()

        init(_ fault: Fault) { self.fault = fault }

        mutating func process(_ event: Event, into metrics: inout [Metric]) {
            if fault == .clearsList { metrics.removeAll() }
            if fault == .changesList, !metrics.isEmpty { metrics[0].value = 5 }
            metricalc.process(event, into: &metrics)
            counts[event.tracker, default: 0] += 1
            times[event.tracker] = event.time
            if let value = value(for: event) { metrics.append(Metric(Self.name, value, of: event)) }
            switch fault {
            case .insertsFirst: metrics.insert(Metric(Self.name, 1, of: event), at: 0)
            case .namesOtherTracker: metrics.append(metric(of: TrackerID(event.tracker.number + 1), at: event.time))
            case .namesOtherTime:
                let time = Timestamp(instant: MonotonicInstant(nanoseconds: 0), wallTime: event.time.wallTime)
                metrics.append(metric(of: event.tracker, at: time))
            case .mixesKinds:
                let kind: MetricName.Kind = event.action == .ping ? .counter : .gauge
                metrics.append(Metric(MetricName("Faulty", kind), 1, of: event))
            case .mixesUnits:
                let unit: MetricName.Unit = event.action == .ping ? .ratio : .count
                metrics.append(Metric(MetricName("Faulty", .gauge, unit: unit), 1, of: event))
            default: break
            }
        }

        private func metric(of tracker: TrackerID, at time: Timestamp) -> Metric {
            Metric(Self.name, 1, tracker: tracker, time: time, attributes: [:])
        }

        private func value(for event: Event) -> Metric.Value? {
            switch fault {
            case .tossesCoin: .int(.random(in: .min ... .max))
            case .tellsTime: .int(Int(SystemClock().now.nanoseconds))
            case .sharesState: .int(Self.shared.next())
            case .turnsSigns: .double(Bool.random() ? 0.0 : -0.0)
            case .isReference: .int(box.next())
            case .isNotFinite: .double(event.action == .next ? .nan : 1)
            case .isInfinite: .double(event.action == .next ? -.infinity : 1)
            case .keepsCounts: .int(counts[event.tracker, default: 0])
            default: nil
            }
        }

        mutating func forget(_ tracker: TrackerID, into metrics: inout [Metric]) {
            let (time, others) = (times[tracker], counts.count)
            if fault != .repeatsLast { times[tracker] = nil }
            counts[tracker] = nil
            forget(tracker)
            guard let time else { return }
            switch fault {
            case .clearsAtLast: metrics = []
            case .repeatsLast: metrics.append(metric(of: tracker, at: time))
            case .countsOthersAtLast: if others > 1 { metrics.append(metric(of: tracker, at: time)) }
            case .namesOtherTrackerAtLast: metrics.append(metric(of: TrackerID(77), at: time))
            default: break
            }
        }

        mutating func forget(_ tracker: TrackerID) {
            switch fault {
            case .neverForgets: break
            case .forgetsAll: metricalc = CoreMetricalc()
            case .countsOthersAtLast:
                counts[tracker] = nil
                metricalc.forget(tracker)
            default: metricalc.forget(tracker)
            }
        }
    }

    @Test("The contract names the promise that a faulty metricalc breaks", arguments: Fault.allCases)
    func faulty(fault: Fault) {
        let found = violation { try MetricalcContract.check { FaultyMetricalc(fault) } }
        #expect(found?.promise == fault.promise, "\(found?.description ?? "no violation")")
        #expect(found?.description.contains(fault.promise) == true)
    }
}
