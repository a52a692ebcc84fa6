internal import Instrument
internal import InstrumentJSON

/// The statements that an LRS refused, with their bytes, until a retry of the dead letters delivers them.
///
/// The mapping's memory has changed by then, so the mapping cannot create them a second time. One page holds
/// the samples of 64 consecutive numbers, so that a refusal rewrites only a small file, with any number of dead
/// letters.
struct RefusedStatements: Sendable {
    private struct Entry: Hashable, Sendable {
        /// The first generation of the memory that includes the sample. An older memory has not mapped the sample yet.
        var generation: Int
        var statements: [String]
    }

    private var entries: [SampleID: Entry] = [:]
    /// Samples whose statements have all arrived. They stay until the saved memory includes them, too.
    private var arrived: Set<SampleID> = []
    /// Whether the store lacks statements of this page.
    private(set) var hasNews = false

    init() {}

    /// The number of the page of a sample.
    static func page(of record: SampleRecord) -> UInt64 { record.sequence / 64 }

    /// The store's key of a page.
    static func key(_ key: String, page: UInt64) -> String { "\(key)refused\(page)" }

    /// The statements of a sample that has been mapped and refused; nil if it has not.
    func statements(of id: SampleID, in generation: Int) -> [[UInt8]]? {
        guard let entry = entries[id], entry.generation <= generation, !arrived.contains(id) else { return nil }
        return entry.statements.map { Array($0.utf8) }
    }

    /// Keeps the refused statements of a sample that no memory before `generation` includes.
    mutating func keep(_ statements: [[UInt8]], of id: SampleID, since generation: Int) {
        let texts = statements.map { String(decoding: $0, as: UTF8.self) }
        let known = entries[id].map(\.generation) ?? generation
        let entry = Entry(generation: min(known, generation), statements: texts)
        if entries[id] == entry { return }
        entries[id] = entry
        hasNews = true
    }

    /// Notes that all statements of a sample have arrived.
    mutating func settle(_ id: SampleID) { if entries[id] != nil { arrived.insert(id) } }

    /// Whether the page is empty once the memory is saved.
    var isSettled: Bool { entries.keys.allSatisfy(arrived.contains) }
    /// Whether statements must be removed once the memory is saved.
    var hasArrivals: Bool { !arrived.isEmpty }

    /// Notes that the store has the current page.
    mutating func wasSaved() { hasNews = false }

    /// Removes the samples that have arrived.
    mutating func removeArrivals() {
        for id in arrived { entries[id] = nil }
        arrived = []
    }

    /// Reads a page; nil if it is damaged.
    init?(bytes: [UInt8]) {
        guard let members = (try? JSONValue(parsing: bytes))?.members else { return nil }
        for (name, entry) in members {
            guard let id = SampleID(name), let generation = entry["generation"]?.int,
                let statements = entry["statements"]?.elements
            else { return nil }
            entries[id] = Entry(generation: generation, statements: statements.compactMap(\.string))
        }
    }

    var bytes: [UInt8] {
        let members = entries.map { id, entry -> (String, JSONValue) in
            let statements = JSONValue.array(entry.statements.map(JSONValue.string))
            return (id.description, ["generation": .int(entry.generation), "statements": statements])
        }
        return JSONValue.object(Dictionary(members) { first, _ in first }).bytes
    }
}
