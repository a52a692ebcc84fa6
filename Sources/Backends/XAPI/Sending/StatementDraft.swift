internal import Instrument
internal import InstrumentJSON

/// What a batch is worth: statements, what can never be sent, and what will be remembered once they have arrived.
struct StatementDraft {
    struct Entry {
        let sample: SampleID
        let id: SampleID
        let json: JSONValue
    }

    private(set) var entries: [Entry] = []
    private(set) var refused: [SampleID: String] = [:]
    /// The latest time that a statement gives itself.
    private(set) var latest: WallTime?
    private var memories: [String: StatementMemory] = [:]
    private var known: Set<SampleID> = []
    private let validator: StatementValidator
    private let now: WallTime

    /// Goes through a batch, sample by sample. A sample that is refused leaves nothing in the memory.
    init(
        _ batch: Batch,
        _ mapping: any XAPIMapping,
        _ shelf: MemoryShelf,
        _ version: XAPIVersion,
        now: WallTime
    ) throws(XAPIStateError) {
        validator = StatementValidator(version: version)
        self.now = now
        let lost = shelf.refused
        var included: [String: Set<SampleID>] = [:]
        for record in batch.records where record.sample.isMeant(for: XAPIBackend.addressee) {
            let key = mapping.memoryKey(for: record)
            var memory = StatementMemory()
            if let key {
                if let begun = memories[key] { memory = begun } else { memory = try shelf.memory(under: key) }
            }
            if let reason = lost[record.id] {
                refused[record.id] = reason
            } else if memory.included.contains(record.id) {
                // It has arrived; only the queue does not know.
                if let key { included[key, default: []].insert(record.id) }
            } else {
                add(record, mapping, &memory.value)
                if let key, refused[record.id] == nil { included[key, default: []].insert(record.id) }
            }
            if let key { memories[key] = memory }
        }
        for (key, ids) in included { memories[key]?.include(ids) }
    }

    /// The memories once all has arrived but for `conflicts`; those may be tried again and must not be passed over then.
    func memories(without conflicts: some Sequence<SampleID>) -> [String: StatementMemory] {
        let lost = Set(conflicts)
        return memories.mapValues { memory in
            var memory = memory
            memory.included.subtract(lost)
            return memory
        }
    }

    private mutating func add(_ record: SampleRecord, _ mapping: any XAPIMapping, _ memory: inout JSONValue) {
        var changed = memory
        let statements = mapping.statements(for: record, remembering: &changed)
        var news: [Entry] = []
        for statement in statements {
            let json = statement.json
            if let reason = fault(of: statement, json, among: news) {
                refused[record.id] = reason
                return
            }
            if let id = statement.id { news.append(Entry(sample: record.id, id: id, json: json)) }
        }
        memory = changed
        known.formUnion(news.map(\.id))
        for time in statements.compactMap(\.timestamp) { latest = max(latest ?? time, time) }
        entries += news
    }

    /// Why a statement must not be sent; nil if it may.
    private func fault(of statement: Statement, _ json: JSONValue, among news: [Entry]) -> String? {
        guard let id = statement.id else { return "a statement without an identifier" }
        if known.contains(id) || news.contains(where: { $0.id == id }) {
            return "two statements with the identifier \(id)"
        }
        if let time = statement.timestamp, FutureTimes.isBeyondWaiting(time, now: now) {
            return "its time, \(time.rfc3339), lies in the future: the calendar was wrong when it was recorded"
        }
        let failures = validator.failures(in: json)
        return failures.isEmpty ? nil : failures.map { "\($0.rule) at \($0.path)" }.joined(separator: "; ")
    }
}
