internal import Instrument
internal import InstrumentJSON

/// What waits, by Seer's own rules, over a store of the shared queue.
///
/// The store keeps payloads through crashes, and dead letters; each type has a place in its log, and what every place is past is
/// freed. Which are next, what makes room and how large all may be is decided here, over a copy in memory, which the limit
/// bounds. A place of its own follows the end of the log: it keeps what the service refused outright.
final class SeerQueue: Sendable {
    struct Item: Sendable {
        let id: SampleID
        let requestID: SeerRequestID
        let kind: SeerPayload.Kind
        let bytes: [UInt8]
    }

    private struct State {
        var items: [Item] = []
        var bytes = 0

        mutating func append(_ item: Item) {
            items.append(item)
            bytes += item.bytes.count
        }

        mutating func remove(_ ids: Set<SampleID>) -> [Item] {
            let removed = items.filter { ids.contains($0.id) }
            items.removeAll { ids.contains($0.id) }
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

    /// How many payloads wait.
    var count: Int { state.withLock { $0.items.count } }
    /// How many bytes they have.
    var bytes: Int { state.withLock { $0.bytes } }
    /// The highest number of a request that waits.
    var lastRequestID: SeerRequestID { state.withLock { $0.items.map(\.requestID).max() ?? 0 } }
    /// Whether anything of a type waits that was given before that request.
    func holds(_ kind: SeerPayload.Kind, before id: SeerRequestID) -> Bool {
        state.withLock { $0.items.contains { $0.kind == kind && $0.requestID < id } }
    }

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
                return (
                    [], SeerError(.queueFull, "the queue holds \(limit) bytes at most; report it, or raise the limit")
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

    /// Keeps what the service refused outright as a dead letter.
    func bury(_ payload: SeerPayload, _ requestID: SeerRequestID, reason: String) {
        var stored = StoredPayload(kind: payload.kind, requestID: requestID, bytes: payload.json.bytes)
        stored.refusal = reason
        state.withLock { state in
            guard (try? store.append([stored.sample(clock.timestamp)])) != nil else { return }
            _ = passEnd()
            lookAgain(&state)
        }
    }

    /// The next payloads of a type up to that request: as many as fit, at most `maxCount`, and at least one; none if none waits.
    func next(_ kind: SeerPayload.Kind, before id: SeerRequestID, maxCount: Int, maxBytes: Int) -> [Item] {
        state.withLock { state in
            let waiting = state.items.lazy.filter { $0.kind == kind }.prefix { $0.requestID < id }
            let fitting = kind.count(of: waiting.map(\.bytes.count), fitting: maxBytes)
            return Array(waiting.prefix(min(maxCount, max(1, fitting))))
        }
    }

    /// These have left: delivered, or with a reason, and then they are dead letters. They are the first of their type.
    func settle(_ items: [Item], dead reason: String? = nil) {
        state.withLock { state in
            // What was pushed out meanwhile is past already.
            pass(state.remove(Set(items.map(\.id))), dead: reason)
            lookAgain(&state)
        }
    }

    /// What the service will never take.
    var deadLetters: [DeadLetter] {
        (SeerPayload.Kind.allCases.map(Self.lane) + [Self.end]).flatMap { store.deadLetters(of: $0) }
    }

    private static func lane(_ kind: SeerPayload.Kind) -> BackendName { BackendName("seer." + kind.rawValue) }

    private func append(_ stored: StoredPayload, _ state: inout State) throws(QueueError) {
        _ = try store.append([stored.sample(clock.timestamp)])
        for record in passEnd() {
            if let item = item(record), item.requestID == stored.requestID { state.append(item) }
        }
        lookAgain(&state)
    }

    /// A record that waits.
    private func item(_ record: SampleRecord) -> Item? {
        guard let stored = StoredPayload(record), stored.refusal == nil else { return nil }
        return Item(id: record.id, requestID: stored.requestID, kind: stored.kind, bytes: stored.bytes)
    }

    /// What an earlier run left. To read it as the next samples of a place would bind that place to just these, so the whole log
    /// is looked at instead, as if to erase none of it.
    private func found() -> [Item] {
        var records: [SampleRecord] = []
        let dead = Set(deadLetters.map(\.record.id))
        _ = try? store.erase { record in
            if !dead.contains(record.id) { records.append(record) }
            return false
        }
        let firsts = SeerPayload.Kind.allCases.map {
            ($0, store.next(for: Self.lane($0), maxCount: 1, maxBytes: .max).first)
        }
        let first = Dictionary(firsts) { first, _ in first }.compactMapValues(\.self)
        return records.sorted { $0.sequence < $1.sequence }.compactMap { record in
            guard let item = item(record), let first = first[item.kind] else { return nil }
            return record.id.isOfLog(of: first.id) && record.sequence < first.sequence ? nil : item
        }
    }

    /// Goes to the end of the log; returns what lay before it.
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

    /// Removes just enough of the oldest.
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

    /// Moves the places of these items' types past them.
    private func pass(_ items: [Item], dead reason: String? = nil) {
        for kind in SeerPayload.Kind.allCases {
            var left = Set(items.filter { $0.kind == kind }.map(\.id))
            while !left.isEmpty {
                // What was given once comes again as it was, however short; other types lie in between.
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

    /// Of a type of which nothing waits, the place goes to the end, so that the log can be freed; unless something waits behind it
    /// that was not seen: what an earlier run left, or another process.
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

extension SampleID {
    /// Whether both are of one log: an identifier begins with its log's bits, twenty characters of them.
    fileprivate func isOfLog(of other: SampleID) -> Bool { description.prefix(20) == other.description.prefix(20) }
}
