internal import Instrument

/// What a backend keeps between batches: the memories of its mapping, and the statements of dead letters.
///
/// The store has them as of the last batch that the queue was told of.
final class MemoryShelf: Sendable {
    /// Which page of ``RefusedStatements``.
    struct Page: Hashable, Sendable {
        let key: String
        let number: UInt64
        var name: String { RefusedStatements.key(key, page: number) }
    }

    /// What a batch changes.
    struct Change: Sendable {
        var memories: [String: StatementMemory] = [:]
        var pages: [Page: RefusedStatements] = [:]
        /// Samples of which a statement was refused, and why.
        var refused: [SampleID: String] = [:]
    }

    private struct State {
        var memories: [String: StatementMemory] = [:]
        var pages: [Page: RefusedStatements] = [:]
        var unsaved: Set<String> = []
        /// What the last batch lost, as long as the queue may not have been told.
        var refused: [SampleID: String] = [:]
    }

    /// Saved memories above this number are let go, so that a service with many viewers stays small.
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

    /// A page that the memory names.
    func refusedStatements(_ page: Page) throws(XAPIStateError) -> RefusedStatements {
        if let known = state.withLock({ $0.pages[page] }) { return known }
        guard let bytes = try store.load(page.name), !bytes.isEmpty else { return RefusedStatements() }
        if let statements = RefusedStatements(bytes: bytes) { return statements }
        report("the statements of dead letters are damaged; a retry maps these samples again")
        return RefusedStatements()
    }

    /// What the last batch is known to have lost, if the queue asks again because saving failed.
    var refused: [SampleID: String] { state.withLock { $0.refused } }

    /// The batch has arrived, but for what was refused.
    func advance(by change: Change) {
        state.withLock { state in
            state.memories.merge(change.memories) { $1 }
            state.unsaved.formUnion(change.memories.keys)
            state.pages.merge(change.pages) { $1 }
            state.refused = change.refused
        }
    }

    /// Saves what is not saved yet. Refused statements come before the memory that counts on them, and leave after it, so that
    /// a crash in between loses none and maps no sample twice.
    func save() throws(XAPIStateError) {
        for (page, statements) in state.withLock({ $0.pages }) where statements.hasNews {
            try store.save(statements.bytes, under: page.name)
            state.withLock { $0.pages[page]?.wasSaved() }
        }
        let waiting = state.withLock { state in
            state.unsaved.sorted().compactMap { key in state.memories[key].map { (key, $0) } }
        }
        for (key, memory) in waiting {
            try store.save(memory.bytes, under: key)
            state.withLock { _ = $0.unsaved.remove(key) }
        }
        for (page, statements) in state.withLock({ $0.pages }) where statements.hasArrivals {
            var left = statements
            left.removeArrivals()
            if statements.isSettled {
                try store.remove(page.name)
            } else {
                try store.save(left.bytes, under: page.name)
            }
        }
        state.withLock { state in
            (state.refused, state.pages) = ([:], [:])
            if state.memories.count > Self.maxHeld { state.memories = [:] }
        }
    }
}
