internal import Instrument
internal import InstrumentJSON

/// What a mapping remembers under a key, and of which samples.
struct StatementMemory: Sendable {
    var value: JSONValue = .null
    /// The samples of the last batch whose statements have arrived: the queue may deliver them again after a crash, since it
    /// settles one batch before it gives the next.
    private(set) var included: Set<SampleID> = []
    /// The same for dead letters that were retried, the latest last. The queue gives them between other batches and a person
    /// chooses them anew at any time, so that the last batch alone would not do.
    private(set) var retried: [SampleID] = []
    private static var mostRetried: Int { 512 }
    /// Rises with each state that is saved. A page of ``RefusedStatements`` that is saved first may be ahead of it.
    private(set) var generation = 0
    /// The pages of ``RefusedStatements`` in which the store keeps statements.
    var pages: Set<UInt64> = []

    init() {}

    /// The state after a batch. The queue may cut a batch that it gives again in another way: while some samples of the last
    /// batch come, the others may still come.
    mutating func advance(including new: Set<SampleID>, retried again: [SampleID]) {
        if !new.isEmpty { included = included.isDisjoint(with: new) ? new : included.union(new) }
        retried = Array((retried + again.filter { !retried.contains($0) }).suffix(Self.mostRetried))
        generation += 1
    }

    /// Reads a state; nil if it is damaged.
    init?(bytes: [UInt8]) {
        guard let json = try? JSONValue(parsing: bytes), let value = json["memory"],
            let ids = json["included"]?.elements
        else { return nil }
        self.value = value
        included = Set(ids.compactMap(\.id))
        retried = (json["retried"]?.elements ?? []).compactMap(\.id)
        generation = json["generation"]?.int ?? 0
        pages = Set((json["pages"]?.elements ?? []).compactMap { $0.int.flatMap { UInt64(exactly: $0) } })
    }

    var bytes: [UInt8] {
        JSONValue.object([
            "memory": value, "included": Self.list(included.map(\.description).sorted()),
            "retried": Self.list(retried.map(\.description)),
            "generation": .int(generation), "pages": .array(pages.sorted().map { .int(Int(clamping: $0)) }),
        ]).bytes
    }

    private static func list(_ ids: [String]) -> JSONValue { .array(ids.map(JSONValue.string)) }
}
