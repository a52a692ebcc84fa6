/// A store in memory. Its samples end with the process.
public final class InMemoryStore: SampleStore {
    /// A backend's place in the log. Positions count samples and bytes from the beginning of the log.
    struct Place {
        let name: BackendName
        let start: UInt64
        /// The first waiting sample; never an erased one.
        var cursor: UInt64
        var byteCursor: Int
        /// The end of the leased batch; greater than the cursor only while a batch is leased.
        var leaseEnd: UInt64 = 0
        /// The number of erased samples from the cursor on.
        var erasedAhead = 0
        var dead: [DeadLetter] = []
        /// The receipts of samples from the cursor on.
        var receipts: [DeliveryReceipt] = []
        var ledger = Ledger()
    }

    struct State {
        var log = SampleLog()
        var places: [Place] = []
        /// The first held sample; nil if none is held.
        var heldFrom: UInt64?
        var consent = Consent.granted
    }

    private static var deadLetterLimit: Int { 1000 }

    private let limits: QueueLimits
    private let identity: UInt64
    let state = Lock(State())

    /// Creates an empty store. `randomness` gives the common part of its samples' identifiers.
    public init(limits: QueueLimits = QueueLimits(), randomness: RandomSource = RandomSource()) {
        self.limits = limits
        identity = randomness.next()
    }

    /// Appends samples. Without a backend the store keeps nothing.
    public func append(_ samples: [Sample]) throws(QueueError) -> Int {
        let size = state.withLock { state -> Int? in
            if state.places.isEmpty { return 0 }
            let before = state.log.byteEnd
            if limits.whenFull == .refuseNew, exceeds(state.log, adding: samples) {
                for index in state.places.indices {
                    state.places[index].ledger.drops[.refused, default: 0] += samples.count
                }
                return nil
            }
            state.log.append(samples)
            let size = state.log.byteEnd - before
            if exceeds(state.log) { makeRoom(in: &state) }
            if let maxAge = limits.maxAge, let newest = samples.last?.time.instant {
                drop(olderThan: newest.advanced(by: .zero - maxAge), in: &state)
            }
            return size
        }
        guard let size else {
            throw QueueError(
                .full,
                "the queue is at its limit of \(limits.maxCount) samples or \(limits.maxBytes) bytes; deliver more often, or raise the limit"
            )
        }
        return size
    }

    /// Creates a place for a backend at the end of the log.
    public func attach(_ backend: BackendName) {
        state.withLock { state in
            if state.places.contains(where: { $0.name == backend }) { return }
            let (end, byteEnd) = (state.log.end, state.log.byteEnd)
            state.places.append(Place(name: backend, start: end, cursor: end, byteCursor: byteEnd))
        }
    }

    /// Deletes a backend's place.
    public func forget(_ backend: BackendName) {
        let freed = state.withLock { state in
            state.places.removeAll { $0.name == backend }
            return trim(&state)
        }
        withExtendedLifetime(freed) {}
    }

    /// Leases the next samples for a backend.
    public func next(for backend: BackendName, maxCount: Int, maxBytes: Int) -> [SampleRecord] {
        let found = state.withLock { state -> (cursor: UInt64, part: SampleLog.Part)? in
            guard let place = state.places.first(where: { $0.name == backend }) else { return nil }
            let leased = place.leaseEnd > place.cursor ? Int(place.leaseEnd - place.cursor) : .max
            return (place.cursor, state.log.part(from: place.cursor, maxCount: min(maxCount, leased)))
        }
        guard let found else { return [] }
        var records: [SampleRecord] = []
        records.reserveCapacity(found.part.count)
        var bytes = 0
        found.part.forEach { distance, entry in
            guard let sample = entry.sample else { return true }
            bytes += entry.size
            if bytes > maxBytes, !records.isEmpty { return false }
            records.append(record(sample, found.cursor + UInt64(distance)))
            return true
        }
        if let last = records.last { lease(backend, from: found.cursor, through: last.sequence) }
        return records
    }

    private func lease(_ backend: BackendName, from cursor: UInt64, through sequence: UInt64) {
        state.withLock { state in
            guard let index = state.places.firstIndex(where: { $0.name == backend }),
                state.places[index].cursor == cursor
            else { return }
            state.places[index].leaseEnd = sequence + 1
        }
    }

    /// Moves a backend's cursor past `sequence`.
    public func settle(_ backend: BackendName, through sequence: UInt64, dead: [UInt64: String]) {
        let (freed, missing) = state.withLock { state -> ([SampleLog.Chunk], Int) in
            guard let index = state.places.firstIndex(where: { $0.name == backend }),
                case let cursor = state.places[index].cursor, sequence >= cursor, sequence < state.log.end
            else { return ([], 0) }
            let passed = cursor...sequence
            let letters = dead.sorted { $0.key < $1.key }.compactMap { number, reason -> DeadLetter? in
                guard passed.contains(number), let sample = state.log.sample(number) else { return nil }
                return DeadLetter(record: record(sample, number), reason: reason)
            }
            state.places[index].ledger.dead += letters.count
            state.places[index].dead.append(contentsOf: letters)
            let surplus = state.places[index].dead.count - Self.deadLetterLimit
            if surplus > 0 { state.places[index].dead.removeFirst(surplus) }
            let count = moveCursor(ofPlaceAt: index, to: sequence + 1, in: &state)
            state.places[index].ledger.acknowledged += count - letters.count
            let freed = trim(&state)
            return (freed, freed.isEmpty ? 0 : state.log.missingSpares())
        }
        // Freed and replaced outside the lock: both take time, and `emit` may be waiting.
        let isEmpty = freed.isEmpty
        withExtendedLifetime(consume freed) {}
        if isEmpty { return }
        let spares = (0..<missing).map { _ in SpareChunks.Memory() }
        let surplus = state.withLock { $0.log.keep(spares) }
        withExtendedLifetime(surplus) {}
    }

    /// The ledger of a backend.
    public func ledger(of backend: BackendName) -> Ledger {
        state.withLock { state in
            guard let place = state.places.first(where: { $0.name == backend }) else { return Ledger() }
            var ledger = place.ledger
            ledger.emitted = Int(state.log.end - place.start) + (ledger.drops[.refused] ?? 0)
            ledger.queued = Int(state.log.end - place.cursor) - place.erasedAhead
            return ledger
        }
    }

    /// The number and size of the samples that wait for a backend.
    public func backlog(of backend: BackendName) -> Backlog {
        state.withLock { state in
            guard let place = state.places.first(where: { $0.name == backend }) else { return Backlog() }
            let count = Int(state.log.end - place.cursor) - place.erasedAhead
            return Backlog(count: count, bytes: state.log.byteEnd - place.byteCursor)
        }
    }

    /// The latest 1000 samples that a backend will never accept.
    public func deadLetters(of backend: BackendName) -> [DeadLetter] {
        state.withLock { state in state.places.first { $0.name == backend }?.dead ?? [] }
    }

    func record(_ sample: Sample, _ sequence: UInt64) -> SampleRecord {
        SampleRecord(id: SampleID(log: identity, sequence: sequence), sequence: sequence, sample: sample)
    }

    private func exceeds(_ log: SampleLog) -> Bool {
        log.count > limits.maxCount || log.byteEnd - log.byteStart > limits.maxBytes
    }

    private func exceeds(_ log: SampleLog, adding samples: [Sample]) -> Bool {
        if log.count + samples.count > limits.maxCount { return true }
        return samples.reduce(log.byteEnd - log.byteStart) { $0 + $1.estimatedSize } > limits.maxBytes
    }

    private func makeRoom(in state: inout State) {
        drop(before: number(afterDropping: state.log.count - limits.maxCount, in: state.log), .count, in: &state)
        var (sequence, bytes) = (state.log.start, state.log.byteEnd - state.log.byteStart)
        while bytes > limits.maxBytes, sequence < state.log.end {
            bytes -= state.log.size(of: sequence)
            sequence += 1
        }
        drop(before: sequence, .bytes, in: &state)
    }

    private func number(afterDropping count: Int, in log: SampleLog) -> UInt64 {
        var (sequence, surplus) = (log.start, count)
        while surplus > 0, sequence < log.end {
            if log.sample(sequence) != nil { surplus -= 1 }
            sequence += 1
        }
        return sequence
    }

    private func drop(olderThan instant: MonotonicInstant, in state: inout State) {
        var sequence = state.log.start
        while sequence < state.log.end {
            if let sample = state.log.sample(sequence), sample.time.instant >= instant { break }
            sequence += 1
        }
        drop(before: sequence, .age, in: &state)
    }

    private func drop(before sequence: UInt64, _ reason: DropReason, in state: inout State) {
        for index in state.places.indices where state.places[index].cursor < sequence {
            let count = moveCursor(ofPlaceAt: index, to: sequence, in: &state)
            if count > 0 { state.places[index].ledger.drops[reason, default: 0] += count }
        }
        _ = trim(&state)
    }

    /// Moves a cursor to `sequence` and past erased samples. Returns the number of samples that the cursor has passed.
    func moveCursor(ofPlaceAt index: Int, to sequence: UInt64, in state: inout State) -> Int {
        let cursor = state.places[index].cursor
        let target = state.log.firstKept(from: sequence)
        let passed = state.log.backlog(in: cursor..<target)
        state.places[index].erasedAhead -= Int(target - cursor) - passed.count
        state.places[index].byteCursor += passed.bytes
        state.places[index].cursor = target
        if !state.places[index].receipts.isEmpty { state.places[index].receipts.removeAll { $0.sequence < target } }
        return passed.count
    }

    /// Removes the samples that every backend has passed. Returns their chunks, which the caller frees outside the
    /// lock.
    func trim(_ state: inout State) -> [SampleLog.Chunk] {
        let slowest = state.places.min { $0.cursor < $1.cursor }
        return state.log.trim(
            to: slowest?.cursor ?? state.log.end,
            bytes: slowest?.byteCursor ?? state.log.byteEnd
        )
    }
}

extension Sample {
    /// The approximate size on the wire in bytes, by which the store in memory applies limits in bytes.
    package var estimatedSize: Int {
        switch self {
        case .event(let event): 64 + 24 * event.attributes.count + event.attributes.payloadSize
        case .metric(let metric): 64 + 24 * metric.attributes.count + metric.attributes.payloadSize
        }
    }
}
