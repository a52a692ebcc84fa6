internal import Instrument
internal import InstrumentJSON

/// What waits, by Seer's own rules, over a store of the shared queue.
///
/// The store keeps payloads through crashes, and dead letters; each type has a place in its log, and what every place is past is
/// freed. Which are next, what makes room and how large all may be is decided here. A place of its own follows the end of the
/// log: it tells the number of what was stored, and keeps what the service refused outright.
final class SeerQueue: Sendable {
    struct Item: Hashable {
        let id: SampleID
        let requestID: SeerRequestID
        let kind: SeerPayload.Kind
        let size: Int
    }

    struct Batch: Sendable {
        let items: [Item]
        let payloads: [[UInt8]]
        let records: [SampleRecord]
    }

    private struct State {
        var items: [Item] = []
        var bytes: Int { items.reduce(0) { $0 + $1.size } }
    }

    private static let end: BackendName = "seer.end"
    private let store: any SampleStore
    private let clock: any SchedulingClock
    private let state: Lock<State>

    init(_ store: any SampleStore, clock: any SchedulingClock) {
        self.store = store
        self.clock = clock
        for kind in SeerPayload.Kind.allCases { store.attach(Self.lane(kind)) }
        store.attach(Self.end)
        var items: [(sequence: UInt64, item: Item)] = []
        for kind in SeerPayload.Kind.allCases {
            items += store.next(for: Self.lane(kind), maxCount: .max, maxBytes: .max).compactMap { record in
                guard let stored = StoredPayload(record), stored.kind == kind, stored.refusal == nil else { return nil }
                let size = stored.bytes.count
                let item = Item(id: record.id, requestID: stored.requestID, kind: kind, size: size)
                return (record.sequence, item)
            }
        }
        state = Lock(State(items: items.sorted { $0.sequence < $1.sequence }.map(\.item)))
        passEnd()
    }

    /// How many payloads wait.
    var count: Int { state.withLock { $0.items.count } }
    /// How many bytes they have.
    var bytes: Int { state.withLock { $0.bytes } }
    /// The highest number of a request that waits.
    var lastRequestID: SeerRequestID { state.withLock { $0.items.map(\.requestID).max() ?? 0 } }
    func isEmpty(of kind: SeerPayload.Kind) -> Bool { state.withLock { !$0.items.contains { $0.kind == kind } } }

    /// Stores a payload at the end; tells which had to make room.
    func add(
        _ payload: SeerPayload,
        _ requestID: SeerRequestID,
        limit: Int,
        removesOld: Bool
    ) -> (removed: [SeerRequestID], error: SeerError?) {
        let stored = StoredPayload(kind: payload.kind, requestID: requestID, bytes: payload.json.bytes)
        return state.withLock { state in
            let size = stored.bytes.count
            let surplus = state.bytes + size - limit
            guard size <= limit, surplus <= 0 || removesOld else {
                return ([], SeerError(.queueFull, "the queue holds \(limit) bytes at most; report it, or raise the limit"))
            }
            var removed = removeOldest(freeing: surplus, &state)
            do throws(QueueError) {
                try append(stored, &state)
            } catch {
                guard error.code == .diskFull, removesOld else { return (removed, SeerError(error)) }
                removed += removeOldest(freeing: size, &state)
                do throws(QueueError) { try append(stored, &state) } catch { return (removed, SeerError(error)) }
            }
            return (removed, nil)
        }
    }

    /// Keeps what the service refused outright as a dead letter.
    func bury(_ payload: SeerPayload, _ requestID: SeerRequestID, reason: String) {
        var stored = StoredPayload(kind: payload.kind, requestID: requestID, bytes: payload.json.bytes)
        stored.refusal = reason
        state.withLock { _ in
            guard (try? store.append([stored.sample(clock.timestamp)])) != nil else { return }
            passEnd()
        }
    }

    /// The next payloads of a type: as many as fit, at most `maxCount`, and at least one if there is any.
    func next(_ kind: SeerPayload.Kind, maxCount: Int, maxBytes: Int) -> Batch? {
        state.withLock { state in
            let waiting = state.items.lazy.filter { $0.kind == kind }
            let count = min(maxCount, max(1, kind.count(of: waiting.map(\.size), fitting: maxBytes)))
            let chosen = Array(waiting.prefix(count))
            guard !chosen.isEmpty else { return nil }
            let found = read(chosen, from: Self.lane(kind))
            if found.isEmpty {
                // The store lost them, or a limit of its own pushed them out.
                state.items.removeAll { chosen.contains($0) }
                return nil
            }
            let known = Dictionary(chosen.map { ($0.id, $0) }) { first, _ in first }
            return Batch(
                items: found.compactMap { known[$0.record.id] },
                payloads: found.map(\.payload.bytes),
                records: found.map(\.record)
            )
        }
    }

    /// A batch has left: delivered, or but for what has a reason, which becomes a dead letter.
    func settle(_ batch: Batch, dead reason: String? = nil) {
        state.withLock { state in
            let ids = Set(batch.items.map(\.id))
            // What was pushed out meanwhile is past already.
            let left = batch.records.filter { record in state.items.contains { $0.id == record.id } }
            state.items.removeAll { ids.contains($0.id) }
            guard let last = left.last, let kind = batch.items.first?.kind else { return }
            let letters = reason.map { reason in left.map { ($0.sequence, reason) } } ?? []
            store.settle(
                Self.lane(kind),
                through: last.sequence,
                dead: Dictionary(letters) { first, _ in first }
            )
            passEmptyLanes(state)
        }
    }

    /// What the service will never take.
    var deadLetters: [DeadLetter] {
        (SeerPayload.Kind.allCases.map(Self.lane) + [Self.end]).flatMap { store.deadLetters(of: $0) }
    }

    private static func lane(_ kind: SeerPayload.Kind) -> BackendName { BackendName("seer." + kind.rawValue) }

    private func append(_ stored: StoredPayload, _ state: inout State) throws(QueueError) {
        _ = try store.append([stored.sample(clock.timestamp)])
        for record in passEnd() where StoredPayload(record)?.requestID == stored.requestID {
            state.items.append(
                Item(id: record.id, requestID: stored.requestID, kind: stored.kind, size: stored.bytes.count)
            )
        }
        passEmptyLanes(state)
    }

    /// A type of which nothing waits must not keep the log from being freed.
    private func passEmptyLanes(_ state: State) {
        for kind in SeerPayload.Kind.allCases where !state.items.contains(where: { $0.kind == kind }) {
            let records = store.next(for: Self.lane(kind), maxCount: .max, maxBytes: .max)
            if let last = records.last { store.settle(Self.lane(kind), through: last.sequence, dead: [:]) }
        }
    }

    /// Goes to the end of the log; returns what lay before it.
    @discardableResult
    private func passEnd() -> [SampleRecord] {
        let records = store.next(for: Self.end, maxCount: .max, maxBytes: .max)
        guard let last = records.last else { return [] }
        let refusals = records.compactMap { record in
            StoredPayload(record)?.refusal.map { (record.sequence, $0) }
        }
        store.settle(Self.end, through: last.sequence, dead: Dictionary(refusals) { first, _ in first })
        return records
    }

    /// Removes just enough of the oldest.
    private func removeOldest(freeing bytes: Int, _ state: inout State) -> [SeerRequestID] {
        var (removed, freed) = ([SeerRequestID](), 0)
        while freed < bytes, let oldest = state.items.first {
            if let record = read([oldest], from: Self.lane(oldest.kind)).first?.record {
                store.settle(Self.lane(oldest.kind), through: record.sequence, dead: [:])
            }
            state.items.removeFirst()
            removed.append(oldest.requestID)
            freed += oldest.size
        }
        if !removed.isEmpty { passEmptyLanes(state) }
        return removed
    }

    /// Those items, which are the first of their type, as far as the store gives them.
    private func read(_ items: [Item], from lane: BackendName) -> [(record: SampleRecord, payload: StoredPayload)] {
        let ids = Set(items.map(\.id))
        var (maxCount, found) = (items.count, [(record: SampleRecord, payload: StoredPayload)]())
        while true {
            // Other types lie in between.
            let records = store.next(for: lane, maxCount: maxCount, maxBytes: .max)
            found = records.compactMap { record in
                ids.contains(record.id) ? StoredPayload(record).map { (record, $0) } : nil
            }
            if found.count == items.count || records.count < maxCount { return found }
            maxCount *= 4
        }
    }
}
