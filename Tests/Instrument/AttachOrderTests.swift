import Dispatch
import Instrument
import InstrumentTestKit
import Testing

/// What all attached backends have passed is deleted: a delivery that begins before another backend is attached could
/// take that backend's samples away, where its place was lost.
@Suite("The order of places and deliveries", .timeLimit(.minutes(30)))
struct AttachOrderTests {
    /// Waits in each attach but the first one for a delivery that begins too early.
    private final class WatchedStore: ForwardingStore {
        let store = InMemoryStore()
        private let begun = DispatchSemaphore(value: 0)
        private let state = Lock((attached: 0, attachedAtFirstNext: Int?.none))

        var attachedAtFirstNext: Int? { state.withLock { $0.attachedAtFirstNext } }

        func attach(_ backend: BackendName, isEphemeral: Bool) {
            if state.withLock({ $0.attached }) > 0 { _ = begun.wait(timeout: .now() + .milliseconds(200)) }
            store.attach(backend)
            state.withLock { $0.attached += 1 }
        }

        func next(for backend: BackendName, maxCount: Int, maxBytes: Int) -> [SampleRecord] {
            let isFirst = state.withLock { state in
                defer { state.attachedAtFirstNext = state.attachedAtFirstNext ?? state.attached }
                return state.attachedAtFirstNext == nil
            }
            if isFirst { begun.signal() }
            return store.next(for: backend, maxCount: maxCount, maxBytes: maxBytes)
        }
    }

    @Test("No delivery begins before all backends of a new queue have their places")
    func order() async {
        let store = WatchedStore()
        let backends = ["one", "two", "three"].map { CollectingBackend(BackendName($0)) }
        let queue = BatchQueue(store: store, backends: backends)
        let time = Timestamp(instant: MonotonicInstant(nanoseconds: 0), wallTime: WallTime(milliseconds: 0))
        queue.append([.event(Event(.ping, tracker: TrackerID(0), time: time))])
        #expect(await queue.flush(timeout: .seconds(300)))
        #expect(store.attachedAtFirstNext == 3)
        #expect(backends.allSatisfy { $0.samples.count == 1 })
    }
}
