import Instrument
import InstrumentTestKit
import InstrumentTrackers
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

@Suite("Tracker contract")
struct TrackerContractTests {
    @Test("The player tracker keeps the contract")
    func player() async throws {
        let player = ScriptedPlayer()
        player.set(\.title, to: "film")
        player.set(\.position, to: .seconds(3))
        try await TrackerContract.check {
            PlayerTracker(player)
        } exercise: { _ in
            for action in [Action.start, .pauseBegin, .pauseFinish, .end] { player.signal(action) }
        }
    }

    @Test("The lifecycle tracker keeps the contract")
    func life() async throws {
        let (life, queue) = (ScriptedLifecycle(), BatchQueue(clock: VirtualClock()))
        try await TrackerContract.check {
            LifecycleTracker(life, flushing: queue)
        } exercise: { _ in
            for phase in [LifecyclePhase.active, .inactive, .foreground] { life.enter(phase) }
        }
    }

    @Test("A tracker that does nothing keeps the contract, unless its subject has events")
    func idle() async throws {
        final class Idle: Tracker { func begin(in context: TrackerContext) {} }
        try await TrackerContract.check { Idle() }
    }

    /// A promise that a tracker breaks.
    enum Fault: CaseIterable {
        case changesTarget, changesDeclaration, reportsNothing
        case emitsInEnd, emitsAfterEnd, emitsAfterEarlyEnd
        case undeclaredAttribute, undeclaredGetter, undeclaredInHook, nanAttribute, nanGetter
        case answersOnOneThread, answersOneThreadAtATime
        case changesAction, changesTracker, changesTime, changesAppAttributes, isKept

        var promise: String {
            switch self {
            case .changesTarget, .changesDeclaration: "a tracker's target and declared fields are the same each time"
            case .reportsNothing: "a tracker reports the events of its subject"
            case .emitsInEnd, .emitsAfterEnd, .emitsAfterEarlyEnd: "once its service has ended, a tracker emits nothing"
            case .undeclaredAttribute, .undeclaredGetter, .undeclaredInHook:
                "every field that a tracker collects is declared"
            case .nanAttribute, .nanGetter: "the values that a tracker collects are finite"
            case .answersOnOneThread: "a getter returns its value on any thread"
            case .answersOneThreadAtATime: "a getter returns its value on several threads at the same time"
            case .changesAction, .changesTracker, .changesTime:
                "a tracker's hook keeps an event's action, tracker and time"
            case .changesAppAttributes: "a tracker does not change events that the app emits from several threads"
            case .isKept: "a tracker is released once its service has ended"
            }
        }
    }

    /// A tracker that keeps the contract, or breaks one promise of it.
    private final class FaultyTracker: Tracker {
        private struct State {
            var context: TrackerContext?
            var isReady = false
            var askedCount = 0
            var isBusy = false
        }
        private static let kept = Lock<[FaultyTracker]>([])

        let fault: Fault?
        private let state = Lock(State())

        init(_ fault: Fault?) { self.fault = fault }

        var target: String? { fault == .changesTarget ? "target \(count())" : "target" }

        var declaredFields: PrivacyCatalogue {
            let purpose = fault == .changesDeclaration ? "Purpose \(count())" : "Purpose"
            return [FieldDeclaration(AttributeKey<Int>("own"), purpose)]
        }

        private func count() -> Int {
            state.withLock { state in
                state.askedCount += 1
                return state.askedCount
            }
        }

        func begin(in context: TrackerContext) {
            state.withLock { $0.context = context }
            if fault == .isKept { Self.kept.withLock { $0.append(self) } }
            context.register(AttributeKey<Int>("own")) { 1 }
            let home = pthread_self()
            switch fault {
            case .undeclaredGetter: context.register(AttributeKey<Int>("undeclared")) { 1 }
            case .nanGetter: context.register(.fps) { .nan }
            case .answersOnOneThread:
                context.register(.title) { pthread_self() == home ? "title" : nil }
            case .answersOneThreadAtATime: context.register(.title) { [weak self] in self?.titleIfFree() }
            default: break
            }
        }

        private func titleIfFree() -> String? {
            let isFree = state.withLock { state in
                defer { state.isBusy = true }
                return !state.isBusy
            }
            guard isFree else { return nil }
            usleep(200)
            state.withLock { $0.isBusy = false }
            return "title"
        }

        func ready() { state.withLock { $0.isReady = true } }

        /// Simulates an event of the observed object.
        func happen() {
            guard let context = state.withLock({ $0.context }) else { return }
            switch fault {
            case .reportsNothing: break
            case .undeclaredAttribute: context.emit(.ping, attributes: ["undeclared": 1])
            case .nanAttribute: context.emit(.ping, attributes: ["fps": .double(.nan)])
            default: context.emit(.ping, attributes: ["own": 2])
            }
        }

        func process(_ event: inout Event) -> Verdict {
            let instant = MonotonicInstant(nanoseconds: 1)
            let time = Timestamp(instant: instant, wallTime: event.time.wallTime)
            switch fault {
            case .undeclaredInHook: event.attributes["undeclared"] = 1
            case .changesAppAttributes: event.attributes.remove("thread 1")
            case .changesAction where event.action == .end:
                event = Event(.stop, tracker: event.tracker, time: event.time, attributes: event.attributes)
            case .changesTracker where event.action == .end:
                event = Event(.end, tracker: TrackerID(7), time: event.time, attributes: event.attributes)
            case .changesTime where event.action == .end:
                event = Event(.end, tracker: event.tracker, time: time, attributes: event.attributes)
            default: break
            }
            return .accepted
        }

        func end() {
            let context = state.withLock { state in
                let isKept = fault == .emitsAfterEnd || fault == .emitsAfterEarlyEnd && !state.isReady
                defer { if !isKept { state.context = nil } }
                return state.context
            }
            if fault == .emitsInEnd { context?.emit(.stop) }
        }
    }

    @Test("A custom tracker keeps the contract")
    func plain() async throws {
        try await TrackerContract.check {
            FaultyTracker(nil)
        } exercise: {
            $0.happen()
        }
    }

    @Test("The contract names the promise that a faulty tracker breaks", arguments: Fault.allCases)
    func faulty(fault: Fault) async {
        do {
            try await TrackerContract.check {
                FaultyTracker(fault)
            } exercise: {
                $0.happen()
            }
            Issue.record("no violation")
        } catch {
            #expect(error.promise == fault.promise, "\(error)")
            #expect(error.description.contains(fault.promise))
        }
    }
}
