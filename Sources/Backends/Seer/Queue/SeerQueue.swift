internal import Instrument
internal import InstrumentJSON

/// The queue of payloads, with Seer's own rules, over a store of the shared queue.
///
/// The store keeps payloads and dead letters through crashes. Each type of payload has a place in the store's
/// log. This class decides which payloads are next, which are evicted, and how large the queue may be, over a
/// copy in memory that the limit bounds. One more place follows the end of the log; it keeps payloads that the
/// service refused at once.
final class SeerQueue: Sendable {
    struct Item: Sendable {
        let id: SampleID
        let requestID: SeerRequestID
        let kind: SeerPayload.Kind
        let bytes: [UInt8]
    }

    private struct State {
        private(set) var items: [Item] = []
        private(set) var bytes = 0
        private var ids: Set<SampleID> = []

        /// Adds an item, unless it is there.
        mutating func append(_ item: Item) {
            guard ids.insert(item.id).inserted else { return }
            items.append(item)
            bytes += item.bytes.count
        }

        mutating func remove(_ ids: Set<SampleID>) -> [Item] {
            let removed = items.filter { ids.contains($0.id) }
            items.removeAll { ids.contains($0.id) }
            self.ids.subtract(ids)
            bytes -= removed.reduce(0) { $0 + $1.bytes.count }
            return removed
        }
    }

    private static let end: BackendName = "seer.end"
    private let store: any SampleStore
    private let clock: any SchedulingClock
    private let state = Lock(State())

    init(_ store: any SampleStore, clock: any SchedulingClock) {
        self.store = store
        self.clock = clock
        for kind in SeerPayload.Kind.allCases { store.attach(Self.lane(kind)) }
        store.attach(Self.end)
        state.withLock { state in
            _ = passEnd()
            for item in found() { state.append(item) }
            lookAgain(&state)
        }
    }

    /// The number of waiting payloads.
    var count: Int { state.withLock { $0.items.count } }
    /// The bytes of the waiting payloads.
    var bytes: Int { state.withLock { $0.bytes } }
    /// The highest request number of a waiting payload.
    var lastRequestID: SeerRequestID { state.withLock { $0.items.map(\.requestID).max() ?? 0 } }
    /// Whether a payload of the type waits that is older than the request.
    func holds(_ kind: SeerPayload.Kind, before id: SeerRequestID) -> Bool {
        state.withLock { $0.items.contains { $0.kind == kind && $0.requestID < id } }
    }

    /// Stores a payload at the end; returns the requests that were evicted for it.
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
                return (
                    [],
                    SeerError(
                        .queueFull,
                        "the queue has reached its limit of \(limit) bytes; report the queue, or raise the limit"
                    )
                )
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

    /// Keeps a payload that the service refused at once as a dead letter; returns why it could not be kept.
    func bury(_ payload: SeerPayload, _ requestID: SeerRequestID, reason: String) -> QueueError? {
        var stored = StoredPayload(kind: payload.kind, requestID: requestID, bytes: payload.json.bytes)
        stored.refusal = reason
        return state.withLock { state in
            do throws(QueueError) { _ = try store.append([stored.sample(clock.timestamp)]) } catch { return error }
            addNew(&state)
            return nil
        }
    }

    /// The next payloads of a type before that request: as many as fit into `maxBytes` and `maxCount`, at least
    /// one if any waits.
    func next(_ kind: SeerPayload.Kind, before id: SeerRequestID, maxCount: Int, maxBytes: Int) -> [Item] {
        state.withLock { state in
            let waiting = state.items.lazy.filter { $0.kind == kind }.prefix { $0.requestID < id }
            let fitting = kind.count(of: waiting.map(\.bytes.count), fitting: maxBytes)
            return Array(waiting.prefix(min(maxCount, max(1, fitting))))
        }
    }

    /// Removes the first payloads of a type: they were delivered, or refused for a reason and are dead letters now.
    func settle(_ items: [Item], dead reason: String? = nil) {
        state.withLock { state in
            // The places have already passed payloads that were evicted meanwhile.
            pass(state.remove(Set(items.map(\.id))), dead: reason)
            lookAgain(&state)
        }
    }

    /// The payloads that the service refused.
    var deadLetters: [DeadLetter] {
        (SeerPayload.Kind.allCases.map(Self.lane) + [Self.end]).flatMap { store.deadLetters(of: $0) }
    }

    private static func lane(_ kind: SeerPayload.Kind) -> BackendName { BackendName("seer." + kind.rawValue) }

    private func append(_ stored: StoredPayload, _ state: inout State) throws(QueueError) {
        _ = try store.append([stored.sample(clock.timestamp)])
        addNew(&state)
    }

    /// Adds what was stored since the last call. That may be more than the last payload: while the disk is full, the
    /// store keeps payloads that it can read only later.
    private func addNew(_ state: inout State) {
        for item in passEnd().compactMap(item) { state.append(item) }
        lookAgain(&state)
    }

    /// The waiting payload of a record; nil if the service refused it at once.
    private func item(_ record: SampleRecord) -> Item? {
        guard let stored = StoredPayload(record), stored.refusal == nil else { return nil }
        return Item(id: record.id, requestID: stored.requestID, kind: stored.kind, bytes: stored.bytes)
    }

    /// The payloads that an earlier run left: each type in the order of its place, and all of them in the order
    /// of their requests.
    private func found() -> [Item] {
        var waiting = SeerPayload.Kind.allCases.map { found($0)[...] }
        var items: [Item] = []
        while let next = waiting.indices.filter({ !waiting[$0].isEmpty }).min(by: { first, second in
            (waiting[first].first?.requestID ?? 0) < (waiting[second].first?.requestID ?? 0)
        }) {
            items += waiting[next].prefix(1)
            waiting[next] = waiting[next].dropFirst()
        }
        return items
    }

    private func found(_ kind: SeerPayload.Kind) -> [Item] {
        var items: [Item] = []
        store.readQueued(for: Self.lane(kind)) { records in
            items += records.compactMap(item).filter { $0.kind == kind }
            return true
        }
        return items
    }

    /// Moves the last place to the end of the log; returns the records that it passed.
    private func passEnd() -> [SampleRecord] {
        var passed: [SampleRecord] = []
        while case let records = store.next(for: Self.end, maxCount: .max, maxBytes: .max), let last = records.last {
            let refusals = records.compactMap { record in
                StoredPayload(record)?.refusal.map { (record.sequence, $0) }
            }
            store.settle(Self.end, through: last.sequence, dead: Dictionary(refusals) { first, _ in first })
            passed += records
        }
        return passed
    }

    /// Evicts just enough of the oldest payloads.
    private func removeOldest(freeing bytes: Int, _ state: inout State) -> [SeerRequestID] {
        var (count, freed) = (0, 0)
        for item in state.items where freed < bytes {
            (count, freed) = (count + 1, freed + item.bytes.count)
        }
        if count == 0 { return [] }
        let removed = state.remove(Set(state.items.prefix(count).map(\.id)))
        pass(removed)
        lookAgain(&state)
        return removed.map(\.requestID)
    }

    /// Moves the places of the items' types past the items.
    private func pass(_ items: [Item], dead reason: String? = nil) {
        for kind in SeerPayload.Kind.allCases {
            var left = Set(items.filter { $0.kind == kind }.map(\.id))
            while !left.isEmpty {
                // The store repeats an unsettled batch as it was, however short; records of other types lie in between.
                let records = store.next(for: Self.lane(kind), maxCount: 256, maxBytes: .max)
                guard let end = records.last else { break }
                let mine = records.filter { left.contains($0.id) }
                let last = mine.count == left.count ? mine.last ?? end : end
                let letters = reason.map { reason in mine.map { ($0.sequence, reason) } } ?? []
                store.settle(Self.lane(kind), through: last.sequence, dead: Dictionary(letters) { first, _ in first })
                left.subtract(mine.map(\.id))
            }
        }
    }

    /// Moves the place of each type without waiting payloads to the end, so that the store can free the log.
    /// Payloads of an earlier run or of another process that appear there are added to the queue instead.
    private func lookAgain(_ state: inout State) {
        for kind in SeerPayload.Kind.allCases where !state.items.contains(where: { $0.kind == kind }) {
            while case let records = store.next(for: Self.lane(kind), maxCount: .max, maxBytes: .max),
                let last = records.last
            {
                let found = records.compactMap(item).filter { $0.kind == kind }
                for item in found { state.append(item) }
                if !found.isEmpty { break }
                store.settle(Self.lane(kind), through: last.sequence, dead: [:])
            }
        }
    }
}
