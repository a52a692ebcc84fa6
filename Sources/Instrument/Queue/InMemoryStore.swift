/// A store that ends with the process.
public final class InMemoryStore: SampleStore {
    private struct Stored {
        var sample: Sample
        var size: Int
    }

    /// A backend's place in the log. Positions count samples and bytes since the log began.
    private struct Place {
        let name: BackendName
        let start: UInt64
        var cursor: UInt64
        var byteCursor: Int
        var dead: [DeadLetter] = []
        var ledger = Ledger()
    }

    private struct State {
        /// Samples in order from index `head` on; the first has the number `first`.
        var samples: ContiguousArray<Stored> = []
        var head = 0
        var first: UInt64 = 0
        var byteFirst = 0
        var byteEnd = 0
        var places: [Place] = []
        /// Samples that were refused, which every ledger counts.
        var refused = 0
        var count: Int { samples.count - head }
        var end: UInt64 { first + UInt64(count) }
    }

    private static var deadLetterLimit: Int { 1000 }

    private let limits: QueueLimits
    private let log: UInt64
    private let state = Lock(State())

    /// Creates an empty store; `randomness` gives what its samples' identifiers have in common.
    public init(limits: QueueLimits = QueueLimits(), randomness: RandomSource = RandomSource()) {
        self.limits = limits
        log = randomness.next()
    }

    /// Adds samples. Without a backend nothing is kept.
    public func append(_ samples: [Sample]) throws(QueueError) -> Int {
        let size = state.withLock { state -> Int? in
            if state.places.isEmpty { return 0 }
            let before = state.byteEnd
            let count = state.samples.count
            for sample in samples {
                let size = sample.estimatedSize
                state.samples.append(Stored(sample: sample, size: size))
                state.byteEnd += size
            }
            let size = state.byteEnd - before
            if exceeds(state) {
                if limits.whenFull == .refuseNew {
                    state.samples.removeSubrange(count...)
                    state.byteEnd = before
                    for index in state.places.indices {
                        state.places[index].ledger.drops[.refused, default: 0] += samples.count
                    }
                    return nil
                }
                makeRoom(in: &state)
            }
            if let maxAge = limits.maxAge, let newest = samples.last?.time.instant {
                drop(olderThan: newest.advanced(by: .zero - maxAge), in: &state)
            }
            return size
        }
        guard let size else {
            throw QueueError(.full, "the queue holds \(limits.maxCount) samples or \(limits.maxBytes) bytes, its limit")
        }
        return size
    }

    /// Begins to keep a place for a backend at the end of the log.
    public func attach(_ backend: BackendName) {
        state.withLock { state in
            if state.places.contains(where: { $0.name == backend }) { return }
            state.places.append(
                Place(name: backend, start: state.end, cursor: state.end, byteCursor: state.byteEnd)
            )
        }
    }

    /// Gives up a backend's place.
    public func forget(_ backend: BackendName) {
        state.withLock { state in
            state.places.removeAll { $0.name == backend }
            trim(&state)
        }
    }

    /// The next samples for a backend.
    public func next(for backend: BackendName, maxCount: Int, maxBytes: Int) -> [SampleRecord] {
        state.withLock { state in
            guard let place = state.places.first(where: { $0.name == backend }) else { return [] }
            let start = state.head + Int(place.cursor - state.first)
            var records: [SampleRecord] = []
            records.reserveCapacity(min(max(0, maxCount), state.samples.count - start))
            var bytes = 0
            for stored in state.samples[start...].prefix(max(0, maxCount)) {
                bytes += stored.size
                if bytes > maxBytes, !records.isEmpty { break }
                records.append(record(stored.sample, place.cursor + UInt64(records.count)))
            }
            return records
        }
    }

    /// Moves a backend's cursor past `sequence`.
    public func settle(_ backend: BackendName, through sequence: UInt64, dead: [UInt64: String]) {
        state.withLock { state in
            guard let index = state.places.firstIndex(where: { $0.name == backend }),
                case let cursor = state.places[index].cursor, sequence >= cursor, sequence < state.end
            else { return }
            let passed = cursor...sequence
            let letters = dead.filter { passed.contains($0.key) }.sorted { $0.key < $1.key }.map { number, reason in
                DeadLetter(record: record(sample(number, in: state), number), reason: reason)
            }
            state.places[index].ledger.acknowledged += passed.count - letters.count
            state.places[index].ledger.dead += letters.count
            state.places[index].dead.append(contentsOf: letters)
            let surplus = state.places[index].dead.count - Self.deadLetterLimit
            if surplus > 0 { state.places[index].dead.removeFirst(surplus) }
            moveCursor(ofPlaceAt: index, to: sequence + 1, in: &state)
            trim(&state)
        }
    }

    /// Where a backend's samples are.
    public func ledger(of backend: BackendName) -> Ledger {
        state.withLock { state in
            guard let place = state.places.first(where: { $0.name == backend }) else { return Ledger() }
            var ledger = place.ledger
            ledger.emitted = Int(state.end - place.start) + (ledger.drops[.refused] ?? 0)
            ledger.queued = Int(state.end - place.cursor)
            return ledger
        }
    }

    /// What waits for a backend.
    public func backlog(of backend: BackendName) -> Backlog {
        state.withLock { state in
            guard let place = state.places.first(where: { $0.name == backend }) else { return Backlog() }
            return Backlog(count: Int(state.end - place.cursor), bytes: state.byteEnd - place.byteCursor)
        }
    }

    /// The latest 1000 samples that a backend will never take.
    public func deadLetters(of backend: BackendName) -> [DeadLetter] {
        state.withLock { state in state.places.first { $0.name == backend }?.dead ?? [] }
    }

    private func record(_ sample: Sample, _ sequence: UInt64) -> SampleRecord {
        SampleRecord(id: SampleID(log: log, sequence: sequence), sequence: sequence, sample: sample)
    }

    private func sample(_ sequence: UInt64, in state: State) -> Sample {
        state.samples[state.head + Int(sequence - state.first)].sample
    }

    private func exceeds(_ state: State) -> Bool {
        state.count > limits.maxCount || state.byteEnd - state.byteFirst > limits.maxBytes
    }

    private func makeRoom(in state: inout State) {
        let surplus = state.count - limits.maxCount
        if surplus > 0 { drop(before: state.first + UInt64(surplus), .count, in: &state) }
        var (sequence, bytes) = (state.first, state.byteEnd - state.byteFirst)
        while bytes > limits.maxBytes, sequence < state.end {
            bytes -= state.samples[state.head + Int(sequence - state.first)].size
            sequence += 1
        }
        drop(before: sequence, .bytes, in: &state)
    }

    private func drop(olderThan instant: MonotonicInstant, in state: inout State) {
        var sequence = state.first
        while sequence < state.end, sample(sequence, in: state).time.instant < instant { sequence += 1 }
        drop(before: sequence, .age, in: &state)
    }

    private func drop(before sequence: UInt64, _ reason: DropReason, in state: inout State) {
        for index in state.places.indices where state.places[index].cursor < sequence {
            let cursor = state.places[index].cursor
            state.places[index].ledger.drops[reason, default: 0] += Int(sequence - cursor)
            moveCursor(ofPlaceAt: index, to: sequence, in: &state)
        }
        trim(&state)
    }

    private func moveCursor(ofPlaceAt index: Int, to sequence: UInt64, in state: inout State) {
        let start = state.head + Int(state.places[index].cursor - state.first)
        let end = state.head + Int(sequence - state.first)
        state.places[index].byteCursor += state.samples[start..<end].reduce(0) { $0 + $1.size }
        state.places[index].cursor = sequence
    }

    /// Frees what every backend is past; in strides, so that freeing costs little per sample.
    private func trim(_ state: inout State) {
        let slowest = state.places.min { $0.cursor < $1.cursor }
        state.head += Int((slowest?.cursor ?? state.end) - state.first)
        state.first = slowest?.cursor ?? state.end
        state.byteFirst = slowest?.byteCursor ?? state.byteEnd
        if state.head == state.samples.count {
            state.samples.removeAll(keepingCapacity: state.samples.capacity <= 4096)
            state.head = 0
        } else if state.head > 1024, state.head * 2 > state.samples.count {
            state.samples.removeFirst(state.head)
            state.head = 0
        }
    }
}

extension Sample {
    /// About how many bytes the sample takes on a wire: what limits and batches by bytes are measured with in memory.
    package var estimatedSize: Int {
        switch self {
        case .event(let event): 64 + 24 * event.attributes.count + event.attributes.payloadSize
        case .metric(let metric): 64 + 24 * metric.attributes.count + metric.attributes.payloadSize
        }
    }
}
