internal import Instrument
internal import InstrumentJSON

/// What a mapping remembers under a key, and of which samples it is.
struct StatementMemory: Sendable {
    var value: JSONValue = .null
    /// The samples of the last batch that are in `value` already: what the queue may give again after a crash, since it settles
    /// one batch before it gives the next.
    var included: Set<SampleID> = []

    init() {}

    /// A batch with these samples has arrived. One that the queue gave again may have been cut otherwise: as long as some of
    /// the last batch come, the others may still come.
    mutating func include(_ ids: Set<SampleID>) {
        included = included.isDisjoint(with: ids) ? ids : included.union(ids)
    }

    /// Reads it back; nil if it is damaged.
    init?(bytes: [UInt8]) {
        guard let json = try? JSONValue(parsing: bytes), let value = json["memory"],
            let ids = json["included"]?.elements
        else { return nil }
        self.value = value
        included = Set(ids.compactMap(\.id))
    }

    var bytes: [UInt8] {
        let ids = included.map(\.description).sorted()
        return JSONValue.object(["memory": value, "included": .array(ids.map(JSONValue.string))]).bytes
    }
}

/// The memories of a backend: in the store as of the last batch that was acknowledged.
final class MemoryShelf: Sendable {
    private struct State {
        var memories: [String: StatementMemory] = [:]
        var unsaved: Set<String> = []
        /// What the last batch lost, as long as the queue may not have been told.
        var refused: [SampleID: String] = [:]
    }

    /// What is saved can be let go of, so that a service with many viewers stays small.
    private static var maxHeld: Int { 64 }

    private let store: any XAPIStateStore
    private let report: @Sendable (String) -> Void
    private let state = Lock(State())

    init(_ store: any XAPIStateStore, report: @escaping @Sendable (String) -> Void) {
        self.store = store
        self.report = report
    }

    func memory(under key: String) throws(XAPIStateError) -> StatementMemory {
        if let known = state.withLock({ $0.memories[key] }) { return known }
        guard let bytes = try store.load(key) else { return StatementMemory() }
        if let memory = StatementMemory(bytes: bytes) { return memory }
        report("what was remembered of a video is damaged; its played segments begin anew")
        return StatementMemory()
    }

    /// What is known to be lost of the last batch, if the queue asks again because saving failed.
    var refused: [SampleID: String] { state.withLock { $0.refused } }

    /// The batch has arrived.
    func advance(to memories: [String: StatementMemory], refused: [SampleID: String]) {
        state.withLock { state in
            state.memories.merge(memories) { $1 }
            state.unsaved.formUnion(memories.keys)
            state.refused = refused
        }
    }

    /// Writes down what is not written down yet.
    func save() throws(XAPIStateError) {
        let waiting = state.withLock { state in
            state.unsaved.sorted().compactMap { key in state.memories[key].map { (key, $0) } }
        }
        for (key, memory) in waiting {
            try store.save(memory.bytes, under: key)
            state.withLock { _ = $0.unsaved.remove(key) }
        }
        state.withLock { state in
            state.refused = [:]
            if state.memories.count > Self.maxHeld { state.memories = [:] }
        }
    }
}
