internal import Instrument

/// A store that delivers recorded samples under their own identifiers, a chunk at a time.
///
/// A queue numbers the samples in its store. Samples of several recordings may have the same numbers, so the store
/// gives each a separate number, and ``ReplayBackend`` restores the recorded number before the backend sees the sample.
final class ReplayStore: SampleStore {
    private struct Place {
        var cursor: UInt64
        /// Behind the last sample of the batch that was given and not settled; past the cursor only while there is one.
        var leaseEnd: UInt64 = 0
        var ledger = Ledger()
        var dead: [DeadLetter] = []
        /// Whether the backend's service ended: it receives no more samples, and all further samples count as queued.
        var isClosed = false
    }

    private struct State {
        var places: [BackendName: Place] = [:]
        /// The samples that some backend has not received, from number `start` on.
        var window: [SampleRecord] = []
        /// The bytes of all samples ever added, up to and with each sample of the window.
        var byteEnds: [Int] = []
        var start: UInt64 = 0
        var byteStart = 0
        var end: UInt64 { start + UInt64(window.count) }

        /// The bytes of the samples from a number on.
        func bytes(from number: UInt64) -> Int {
            let before = number > start ? byteEnds[Int(number - start) - 1] : byteStart
            return (byteEnds.last ?? byteStart) - before
        }
    }

    private static let mostLetters = 1000
    private let state = Lock(State())

    /// Adds recorded samples for every backend.
    func add(_ records: [SampleRecord]) {
        state.withLock { state in
            state.window += records
            for record in records {
                state.byteEnds.append((state.byteEnds.last ?? state.byteStart) + record.sample.estimatedSize)
            }
            for name in state.places.keys { state.places[name]?.ledger.emitted += records.count }
            Self.trim(&state)
        }
    }

    /// The recorded sample that the store gave under a separate number; nil once every backend has received it.
    func recorded(_ number: UInt64) -> SampleRecord? {
        state.withLock { state in
            guard number >= state.start, number < state.end else { return nil }
            return state.window[Int(number - state.start)]
        }
    }

    func append(_ samples: [Sample]) throws(QueueError) -> Int {
        throw QueueError(.full, "a replay delivers recorded samples only; emit new samples to another queue")
    }

    func attach(_ backend: BackendName) {
        state.withLock { state in
            if state.places[backend] == nil { state.places[backend] = Place(cursor: state.end) }
        }
    }

    /// Keeps the ledger, which shows what the backend did not receive.
    func forget(_ backend: BackendName) {
        state.withLock { state in
            state.places[backend]?.isClosed = true
            Self.trim(&state)
        }
    }

    func next(for backend: BackendName, maxCount: Int, maxBytes: Int) -> [SampleRecord] {
        state.withLock { state in
            guard let place = state.places[backend], !place.isClosed else { return [] }
            let leased = place.leaseEnd > place.cursor ? Int(place.leaseEnd - place.cursor) : .max
            let waiting = state.window[Int(place.cursor - state.start)...].prefix(min(max(1, maxCount), leased))
            var records: [SampleRecord] = []
            var bytes = 0
            for (offset, record) in waiting.enumerated() {
                bytes += record.sample.estimatedSize
                if bytes > maxBytes, !records.isEmpty { break }
                records.append(record.numbered(place.cursor + UInt64(offset)))
            }
            state.places[backend]?.leaseEnd = place.cursor + UInt64(records.count)
            return records
        }
    }

    func readQueued(for backend: BackendName, _ body: ([SampleRecord]) -> Bool) {
        let waiting = state.withLock { state -> [SampleRecord] in
            guard let place = state.places[backend], !place.isClosed else { return [] }
            return Array(state.window[Int(place.cursor - state.start)...])
        }
        for start in stride(from: 0, to: waiting.count, by: 1000) {
            if !body(Array(waiting[start..<min(waiting.count, start + 1000)])) { return }
        }
    }

    func settle(_ backend: BackendName, through sequence: UInt64, dead: [UInt64: String]) {
        state.withLock { state in
            guard var place = state.places[backend], !place.isClosed, sequence >= place.cursor, sequence < state.end
            else { return }
            for (number, reason) in dead.sorted(by: { $0.key < $1.key })
            where (place.cursor...sequence).contains(number) {
                place.dead.append(DeadLetter(record: state.window[Int(number - state.start)], reason: reason))
                place.ledger.dead += 1
                place.ledger.acknowledged -= 1
            }
            place.dead.removeFirst(max(0, place.dead.count - Self.mostLetters))
            place.ledger.acknowledged += Int(sequence + 1 - place.cursor)
            place.cursor = sequence + 1
            state.places[backend] = place
            Self.trim(&state)
        }
    }

    func ledger(of backend: BackendName) -> Ledger {
        state.withLock { state in
            guard let place = state.places[backend] else { return Ledger() }
            var ledger = place.ledger
            ledger.queued = ledger.emitted - ledger.acknowledged - ledger.dead
            return ledger
        }
    }

    func backlog(of backend: BackendName) -> Backlog {
        state.withLock { state in
            guard let place = state.places[backend], !place.isClosed else { return Backlog() }
            return Backlog(count: Int(state.end - place.cursor), bytes: state.bytes(from: place.cursor))
        }
    }

    func deadLetters(of backend: BackendName) -> [DeadLetter] {
        state.withLock { $0.places[backend]?.dead ?? [] }
    }

    func erase(where isErased: (SampleRecord) -> Bool) throws(QueueError) -> Int { 0 }

    /// Consent was given, or not, when the samples were recorded.
    var consent: Consent { .granted }
    func hold() throws(QueueError) {}
    func release() throws(QueueError) {}
    func eraseHeld() throws(QueueError) -> Int { 0 }

    /// Removes the samples that every open backend has received.
    private static func trim(_ state: inout State) {
        let slowest = state.places.values.filter { !$0.isClosed }.map(\.cursor).min() ?? state.end
        let count = Int(slowest - state.start)
        guard count > 0 else { return }
        state.byteStart = state.byteEnds[count - 1]
        state.byteEnds.removeFirst(count)
        state.window.removeFirst(count)
        state.start = slowest
    }
}

/// Gives a backend the recorded samples with their recorded numbers.
struct ReplayBackend: Backend {
    let backend: any Backend
    let store: ReplayStore

    var name: BackendName { backend.name }
    var policy: DeliveryPolicy { backend.policy }
    var isEphemeral: Bool { backend.isEphemeral }
    var service: ServiceName? { backend.service }

    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        await backend.deliver(Batch(records: batch.records.map { store.recorded($0.sequence) ?? $0 }))
    }

    func patience() -> Duration? { backend.patience() }
    func ready() { backend.ready() }
    func end() async { await backend.end() }
}

extension SampleRecord {
    /// The record under another number.
    fileprivate func numbered(_ sequence: UInt64) -> SampleRecord {
        SampleRecord(id: id, sequence: sequence, sample: sample, service: service)
    }
}
