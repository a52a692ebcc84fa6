internal import Instrument
internal import InstrumentJSON
internal import InstrumentText

/// The statements of a batch, and the changes of the memories once the LRS has responded.
///
/// A sample changes its memory whether or not the LRS accepts its statements. Refused statements are kept
/// unchanged, for a retry of the dead letter.
struct StatementDraft {
    /// A statement that may be sent.
    struct Entry {
        let sample: SampleID
        let id: SampleID
        let json: JSONValue
        let bytes: [UInt8]
    }

    /// A statement of a sample; a statement that must not be sent has a fault.
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

    /// A sample to send: a new one under its memory's key, or a dead letter with its refused statements.
    private enum Plan {
        case new(SampleRecord, key: String?)
        case retry(Telling, [[UInt8]])

        var remembered: (key: String, record: SampleRecord)? {
            if case .new(let record, let key?) = self { (key, record) } else { nil }
        }
    }

    private(set) var entries: [Entry] = []
    /// The latest time of a statement.
    private(set) var latest: WallTime?
    private var tellings: [Telling] = []
    private var memories: [String: StatementMemory] = [:]
    private var pages: [MemoryShelf.Page: RefusedStatements] = [:]
    private let lost: [SampleID: String]
    private var relost: [SampleID: String] = [:]
    /// Samples and retried dead letters that arrived before, by key.
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
        var plans: [Plan] = []
        for record in batch.records {
            if let plan = try plan(for: record, mapping, shelf) { plans.append(plan) }
        }
        tell(plans, mapping)
    }

    /// Returns the plan for a sample; nil if its statements have already arrived or are known to be refused.
    private mutating func plan(
        for record: SampleRecord,
        _ mapping: any XAPIMapping,
        _ shelf: MemoryShelf
    ) throws(XAPIStateError) -> Plan? {
        if let reason = lost[record.id] {
            relost[record.id] = reason
            return nil
        }
        guard let key = mapping.memoryKey(for: record) else { return .new(record, key: nil) }
        let memory = try memory(under: key, shelf)
        // The statements have arrived; the queue does not know it yet.
        if memory.included.contains(record.id) {
            passed[key, default: []].insert(record.id)
        } else if memory.retried.contains(record.id) {
            passedAgain[key, default: []].append(record.id)
        } else if let refused = try refusedStatements(of: record, key, memory, shelf) {
            return .retry(Telling(record, key, isRetry: true), refused)
        } else {
            return .new(record, key: key)
        }
        return nil
    }

    /// Maps the new samples, those with one memory together, and adds all statements in the samples' order.
    private mutating func tell(_ plans: [Plan], _ mapping: any XAPIMapping) {
        var mapped: [String: ArraySlice<[Statement]>] = [:]
        for (key, records) in Dictionary(grouping: plans.compactMap(\.remembered), by: \.key) {
            guard var memory = memories[key] else { continue }
            mapped[key] = mapping.statements(for: records.map(\.record), remembering: &memory.value)[...]
            memories[key] = memory
        }
        for plan in plans {
            switch plan {
            case .retry(let telling, let refused): tell(telling, refused)
            case .new(let record, nil):
                var none = JSONValue.null
                tell(Telling(record, nil), mapping.statements(for: record, remembering: &none))
            case .new(let record, let key?): tell(Telling(record, key), mapped[key]?.popFirst() ?? [])
            }
        }
    }

    /// Returns the memory under a key, and adds it to the draft.
    private mutating func memory(under key: String, _ shelf: MemoryShelf) throws(XAPIStateError) -> StatementMemory {
        if let known = memories[key] { return known }
        let memory = try shelf.memory(under: key)
        memories[key] = memory
        return memory
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

    /// The reason why a statement must not be sent; nil for a valid one.
    private func fault(of json: JSONValue, _ id: SampleID?, _ time: WallTime?) -> String? {
        guard let id else { return "a statement must have an identifier (found none)" }
        if known.contains(id) { return "statements must have different identifiers (found \(id) twice)" }
        if let time, FutureTimes.isBeyondWaiting(time, now: now) {
            return
                "its time must not lie in the future (found \(time.rfc3339)): the calendar was wrong at the recording"
        }
        let failures = validator.failures(in: json)
        return failures.isEmpty ? nil : failures.map { "\($0.rule) at \($0.path)" }.joined(separator: "; ")
    }

    /// Returns the changes to save when all statements have arrived except the `rejected` ones, which the LRS refused.
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
                // A file of that number that the memory does not name is a leftover.
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
