/// A store that ends with the process. When full it drops the oldest samples, and counts them.
public final class InMemoryStore: SampleStore {
    private struct Place {
        var cursor: UInt64
        var ledger = Ledger()
    }

    private struct State {
        /// Samples in order; the first has the number `first`.
        var samples: ContiguousArray<Sample> = []
        var head = 0
        var first: UInt64 = 0
        var places: [BackendName: Place] = [:]
        var count: Int { samples.count - head }
        var end: UInt64 { first + UInt64(count) }
    }

    private let capacity: Int
    private let state = Lock(State())

    /// Creates a store for at most `capacity` samples (by default 1,000,000).
    public init(capacity: Int = 1_000_000) { self.capacity = max(1, capacity) }

    /// Adds samples; drops the oldest beyond the capacity. Without a backend nothing is kept.
    public func append(_ samples: [Sample]) {
        state.withLock { state in
            state.samples.append(contentsOf: samples)
            for name in state.places.keys { state.places[name]?.ledger.emitted += samples.count }
            if state.count > capacity { Self.drop(through: state.end - UInt64(capacity), in: &state) }
            Self.trim(&state)
        }
    }

    /// Begins to keep a place for a backend at the end of the log.
    public func attach(_ backend: BackendName) {
        state.withLock { state in
            if state.places[backend] == nil { state.places[backend] = Place(cursor: state.end) }
        }
    }

    /// The next samples for a backend.
    public func next(for backend: BackendName, limit: Int) -> [SampleRecord] {
        state.withLock { state in
            guard let place = state.places[backend], limit > 0 else { return [] }
            let start = state.head + Int(place.cursor - state.first)
            let end = min(state.samples.count, start + limit)
            return (start..<end).map { index in
                SampleRecord(sequence: place.cursor + UInt64(index - start), sample: state.samples[index])
            }
        }
    }

    /// Moves a backend's cursor past `sequence`.
    public func settle(_ backend: BackendName, through sequence: UInt64, as fate: SampleFate) {
        state.withLock { state in
            guard var place = state.places[backend], sequence >= place.cursor, sequence < state.end else { return }
            let passed = Int(sequence + 1 - place.cursor)
            place.cursor = sequence + 1
            switch fate {
            case .acknowledged: place.ledger.acknowledged += passed
            case .dead: place.ledger.dead += passed
            }
            state.places[backend] = place
            Self.trim(&state)
        }
    }

    /// Where a backend's samples are.
    public func ledger(of backend: BackendName) -> Ledger {
        state.withLock { state in
            guard let place = state.places[backend] else { return Ledger() }
            var ledger = place.ledger
            ledger.queued = Int(state.end - place.cursor)
            return ledger
        }
    }

    private static func drop(through newFirst: UInt64, in state: inout State) {
        for (name, place) in state.places where place.cursor < newFirst {
            state.places[name]?.ledger.dropped += Int(newFirst - place.cursor)
            state.places[name]?.cursor = newFirst
        }
    }

    /// Frees what every backend is past; in strides, so that freeing costs little per sample.
    private static func trim(_ state: inout State) {
        let slowest = state.places.values.map(\.cursor).min() ?? state.end
        state.head += Int(slowest - state.first)
        state.first = slowest
        if state.head == state.samples.count {
            state.samples.removeAll(keepingCapacity: state.samples.capacity <= 4096)
            state.head = 0
        } else if state.head > 1024, state.head * 2 > state.samples.count {
            state.samples.removeFirst(state.head)
            state.head = 0
        }
    }
}
