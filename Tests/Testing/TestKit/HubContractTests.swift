import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@Suite("Hub contract")
struct HubContractTests {
    @Test("The built-in hubs keep the contract", arguments: Rounds.seeds(3))
    func ours(seed: UInt64) throws {
        try HubContract.check(seed: seed) { CoreHub() }
        try HubContract.check(seed: seed) { AdsHub() }
        try HubContract.check(seed: seed) { NoOpHub() }
        try HubContract.check(seed: seed) { MultiplexHub([AdsHub(), NoOpHub()]) }
        try HubContract.check(seed: seed) { MultiplexHub([NoOpHub(), CoreHub(), AdsHub()]) }
        try HubContract.check(seed: seed) { MultiplexHub([]) }
    }

    /// A promise that a hub breaks.
    enum Fault: CaseIterable {
        case tossesCoin, tellsTime, sharesState, makesIdentifiers, isReference
        case countsRejections, hidesRejections, startsWhenRejected, forgetsWhenRejected
        case neverForgets, keepsCounts, forgetsAll, forgetsNeighbours
        case changesAction, changesTracker, changesTime

        var promise: String {
            switch self {
            case .tossesCoin, .tellsTime, .sharesState, .makesIdentifiers:
                "the same events give the same verdicts, attributes and pings"
            case .isReference: "a copy of a hub is independent of the original"
            case .countsRejections, .hidesRejections, .startsWhenRejected, .forgetsWhenRejected:
                "a rejected event leaves the hub as it was"
            case .neverForgets, .keepsCounts: "a hub that has forgotten all trackers behaves like a new one"
            case .forgetsAll: "forgetting an unknown tracker changes nothing"
            case .forgetsNeighbours: "forgetting a tracker changes nothing for the trackers of other content"
            case .changesAction, .changesTracker, .changesTime:
                "an accepted event keeps its action, its tracker and its time"
            }
        }
    }

    /// The ads hub, with one fault. Not `Equatable`.
    private struct FaultyHub: Hub {
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

        let fault: Fault
        private var hub = AdsHub()
        private var rejectedCount = 0
        private var counts: [TrackerID: Int] = [:]
        private let box = Box()

        init(_ fault: Fault) { self.fault = fault }

        mutating func process(_ event: inout Event, in context: inout HubContext) -> Verdict {
            let verdict = hub.process(&event, in: &context)
            guard verdict == .accepted else {
                noteRejection(of: event)
                return verdict
            }
            let note: AttributeName = "note"
            switch fault {
            case .tossesCoin: event.attributes[note] = .int(.random(in: .min ... .max))
            case .tellsTime: event.attributes[note] = .int(Int(SystemClock().now.nanoseconds))
            case .sharesState: event.attributes[note] = .int(Self.shared.next())
            case .makesIdentifiers: event.attributes[note] = .string(RandomSource().identifier())
            case .isReference: event.attributes[note] = .int(box.next())
            case .countsRejections: event.attributes[note] = .int(rejectedCount)
            case .keepsCounts:
                counts[event.tracker, default: 0] += 1
                event.attributes[note] = counts[event.tracker].map { .int($0) }
            case .changesAction: if event.action == .ping { event = changed(event, action: .error) }
            case .changesTracker: if event.action == .adBegin { event = changed(event, tracker: context.content) }
            case .changesTime:
                let instant = event.time.instant.advanced(by: .nanoseconds(1))
                if event.action == .end { event = changed(event, instant: instant) }
            default: break
            }
            return verdict
        }

        private mutating func noteRejection(of event: Event) {
            switch fault {
            case .countsRejections: rejectedCount += 1
            case .startsWhenRejected: if event.action == .pauseBegin { hub = AdsHub() }
            case .forgetsWhenRejected: if event.action == .adFinish { hub.forget(event.tracker) }
            default: break
            }
        }

        private func changed(
            _ event: Event,
            action: Action? = nil,
            tracker: TrackerID? = nil,
            instant: MonotonicInstant? = nil
        ) -> Event {
            let time = Timestamp(instant: instant ?? event.time.instant, wallTime: event.time.wallTime)
            return Event(
                action ?? event.action,
                tracker: tracker ?? event.tracker,
                time: time,
                attributes: event.attributes
            )
        }

        mutating func forget(_ tracker: TrackerID) {
            switch fault {
            case .neverForgets: break
            case .forgetsAll: hub = AdsHub()
            case .forgetsNeighbours: for number in [0, 1, 2] where tracker.number < 3 { hub.forget(TrackerID(number)) }
            default: hub.forget(tracker)
            }
        }
    }

    /// Keeps a count that shows in nothing but equality.
    private struct SecretlyCountingHub: Hub, Equatable {
        private var count = 0
        mutating func process(_ event: inout Event, in context: inout HubContext) -> Verdict {
            guard event.action == .stop else { return .accepted }
            count += 1
            return .rejected(.alreadyDone)
        }
    }

    @Test("The contract names the promise that a faulty hub breaks", arguments: Fault.allCases)
    func faulty(fault: Fault) {
        let found = violation {
            if fault == .hidesRejections {
                try HubContract.check { SecretlyCountingHub() }
            } else {
                try HubContract.check { FaultyHub(fault) }
            }
        }
        #expect(found?.promise == fault.promise, "\(found?.description ?? "no violation")")
        #expect(found?.description.contains(fault.promise) == true)
    }
}
