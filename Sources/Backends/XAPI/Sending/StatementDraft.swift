internal import Instrument
internal import InstrumentJSON
internal import InstrumentText

/// The statements of a batch, and what is remembered once the LRS has answered.
///
/// What a sample means for later ones is remembered whether or not the LRS takes its statements. Those that are refused are
/// kept as they are, for a retry of the dead letter.
struct StatementDraft {
    /// A statement that may be sent.
    struct Entry {
        let sample: SampleID
        let id: SampleID
        let json: JSONValue
        let bytes: [UInt8]
    }

    /// A statement of a sample; what must not be sent has a fault.
    fileprivate struct Part {
        let id: SampleID?
        let bytes: [UInt8]
        let fault: String?
    }

    /// A sample and its statements.
    fileprivate struct Telling {
        let sample: SampleID
        let key: String?
        let page: UInt64
        /// Whether these are the statements of a dead letter.
        let isRetry: Bool
        var parts: [Part] = []
    }

    private(set) var entries: [Entry] = []
    /// The latest time that a statement gives itself.
    private(set) var latest: WallTime?
    private var tellings: [Telling] = []
    private var memories: [String: StatementMemory] = [:]
    private var pages: [MemoryShelf.Page: RefusedStatements] = [:]
    private let lost: [SampleID: String]
    private var relost: [SampleID: String] = [:]
    /// Samples that have arrived already, and dead letters of which the same is true.
    private var passed: [String: Set<SampleID>] = [:]
    private var passedAgain: [String: [SampleID]] = [:]
    private var known: Set<SampleID> = []
    private let validator: StatementValidator
    private let now: WallTime

    /// Maps a batch, sample by sample.
    init(
        _ batch: Batch,
        _ mapping: any XAPIMapping,
        _ shelf: MemoryShelf,
        _ version: XAPIVersion,
        now: WallTime
    ) throws(XAPIStateError) {
        validator = StatementValidator(version: version)
        self.now = now
        lost = shelf.refused
        for record in batch.records where record.sample.isMeant(for: XAPIBackend.addressee) {
            try add(record, mapping, shelf)
        }
    }

    private mutating func add(
        _ record: SampleRecord,
        _ mapping: any XAPIMapping,
        _ shelf: MemoryShelf
    ) throws(XAPIStateError) {
        if let reason = lost[record.id] { return relost[record.id] = reason }
        guard let key = mapping.memoryKey(for: record) else {
            var none = JSONValue.null
            return tell(Telling(record, nil), mapping.statements(for: record, remembering: &none))
        }
        var memory = try memory(under: key, shelf)
        defer { memories[key] = memory }
        // Of what has arrived, only the queue does not know.
        if memory.included.contains(record.id) {
            passed[key, default: []].insert(record.id)
        } else if memory.retried.contains(record.id) {
            passedAgain[key, default: []].append(record.id)
        } else if let refused = try refusedStatements(of: record, key, memory, shelf) {
            tell(Telling(record, key, isRetry: true), refused)
        } else {
            tell(Telling(record, key), mapping.statements(for: record, remembering: &memory.value))
        }
    }

    private func memory(under key: String, _ shelf: MemoryShelf) throws(XAPIStateError) -> StatementMemory {
        if let begun = memories[key] { return begun }
        return try shelf.memory(under: key)
    }

    /// The statements of a dead letter that the queue retries; nil for a sample that is new.
    private mutating func refusedStatements(
        of record: SampleRecord,
        _ key: String,
        _ memory: StatementMemory,
        _ shelf: MemoryShelf
    ) throws(XAPIStateError) -> [[UInt8]]? {
        let page = MemoryShelf.Page(key: key, number: RefusedStatements.page(of: record))
        guard memory.pages.contains(page.number) else { return nil }
        if pages[page] == nil { pages[page] = try shelf.refusedStatements(page) }
        return pages[page]?.statements(of: record.id, in: memory.generation)
    }

    private mutating func tell(_ telling: Telling, _ statements: [Statement]) {
        tell(telling, statements.map { ($0.json, nil) })
    }

    private mutating func tell(_ telling: Telling, _ refused: [[UInt8]]) {
        tell(telling, refused.compactMap { bytes in (try? JSONValue(parsing: bytes)).map { ($0, bytes) } })
    }

    private mutating func tell(_ telling: Telling, _ statements: [(json: JSONValue, bytes: [UInt8]?)]) {
        var telling = telling
        for (json, bytes) in statements {
            let (id, bytes, time) = (json["id"]?.id, bytes ?? json.bytes, json["timestamp"]?.time)
            let fault = fault(of: json, id, time)
            telling.parts.append(Part(id: id, bytes: bytes, fault: fault))
            guard fault == nil, let id else { continue }
            known.insert(id)
            if let time { latest = max(latest ?? time, time) }
            entries.append(Entry(sample: telling.sample, id: id, json: json, bytes: bytes))
        }
        tellings.append(telling)
    }

    /// Why a statement must not be sent; nil if it may.
    private func fault(of json: JSONValue, _ id: SampleID?, _ time: WallTime?) -> String? {
        guard let id else { return "a statement without an identifier" }
        if known.contains(id) { return "two statements with the identifier \(id)" }
        if let time, FutureTimes.isBeyondWaiting(time, now: now) {
            return "its time, \(time.rfc3339), lies in the future: the calendar was wrong when it was recorded"
        }
        let failures = validator.failures(in: json)
        return failures.isEmpty ? nil : failures.map { "\($0.rule) at \($0.path)" }.joined(separator: "; ")
    }

    /// What to remember when all statements have arrived but for those `rejected`, which the LRS will never take.
    func change(rejecting rejected: [SampleID: String], _ shelf: MemoryShelf) throws(XAPIStateError)
        -> MemoryShelf.Change
    {
        var change = MemoryShelf.Change(memories: memories, pages: pages, refused: relost)
        var (arrived, retried) = (passed, passedAgain)
        for telling in tellings {
            let lost = telling.parts.compactMap { part -> (bytes: [UInt8], reason: String)? in
                (part.fault ?? part.id.flatMap { rejected[$0] }).map { (part.bytes, $0) }
            }
            change.refused[telling.sample] = lost.first?.reason
            guard let key = telling.key, var memory = change.memories[key] else { continue }
            let page = MemoryShelf.Page(key: key, number: telling.page)
            if lost.isEmpty {
                if telling.isRetry { retried[key, default: []].append(telling.sample) }
                if !telling.isRetry { arrived[key, default: []].insert(telling.sample) }
                change.pages[page]?.settle(telling.sample)
            } else {
                // An old file of that number, which the memory does not name, is none of ours.
                let isKnown = memory.pages.contains(page.number)
                if change.pages[page] == nil {
                    change.pages[page] = isKnown ? try shelf.refusedStatements(page) : RefusedStatements()
                }
                var refused = change.pages[page] ?? RefusedStatements()
                refused.keep(lost.map(\.bytes), of: telling.sample, since: memory.generation + 1)
                change.pages[page] = refused
                memory.pages.insert(page.number)
                change.memories[key] = memory
            }
        }
        for (page, refused) in change.pages where refused.isSettled {
            change.memories[page.key]?.pages.remove(page.number)
        }
        for key in change.memories.keys {
            change.memories[key]?.advance(including: arrived[key] ?? [], retried: retried[key] ?? [])
        }
        return change
    }
}

extension StatementDraft.Telling {
    init(_ record: SampleRecord, _ key: String?, isRetry: Bool = false) {
        self.init(sample: record.id, key: key, page: RefusedStatements.page(of: record), isRetry: isRetry)
    }
}
