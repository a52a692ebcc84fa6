internal import Instrument

/// The state of a backend between batches: the memories of its mapping, and the statements of dead letters.
///
/// The store has the state after the last batch that was reported to the queue.
final class MemoryShelf: Sendable {
    /// The place of a page of ``RefusedStatements``.
    struct Page: Hashable, Sendable {
        let key: String
        let number: UInt64
        var name: String { RefusedStatements.key(key, page: number) }
    }

    /// The changes of a batch.
    struct Change: Sendable {
        var memories: [String: StatementMemory] = [:]
        var pages: [Page: RefusedStatements] = [:]
        /// Samples with a refused statement, and the reason.
        var refused: [SampleID: String] = [:]
    }

    private struct State {
        var memories: [String: StatementMemory] = [:]
        var pages: [Page: RefusedStatements] = [:]
        var unsaved: Set<String> = []
        /// The refused samples of the last batch, until they are reported to the queue.
        var refused: [SampleID: String] = [:]
    }

    /// The largest number of saved memories that stay in memory, so that a service with many viewers stays small.
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
        report("the memory of a video is damaged; its played segments start from the beginning")
        return StatementMemory()
    }

    /// Returns a page that a memory names.
    func refusedStatements(_ page: Page) throws(XAPIStateError) -> RefusedStatements {
        if let known = state.withLock({ $0.pages[page] }) { return known }
        guard let bytes = try store.load(page.name), !bytes.isEmpty else { return RefusedStatements() }
        if let statements = RefusedStatements(bytes: bytes) { return statements }
        report("the statements of dead letters are damaged; a retry maps these samples again")
        return RefusedStatements()
    }

    /// The refused samples of the last batch, for a repeated delivery after saving failed.
    var refused: [SampleID: String] { state.withLock { $0.refused } }

    /// Applies the changes of a batch that has arrived, except for refused samples.
    func advance(by change: Change) {
        state.withLock { state in
            state.memories.merge(change.memories) { $1 }
            state.unsaved.formUnion(change.memories.keys)
            state.pages.merge(change.pages) { $1 }
            state.refused = change.refused
        }
    }

    /// Saves all unsaved changes. Refused statements are saved before the memory that refers to them and
    /// removed after it, so that a crash in between loses no statement and maps no sample twice.
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
