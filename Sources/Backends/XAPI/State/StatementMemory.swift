internal import Instrument
internal import InstrumentJSON

/// The memory of a mapping under a key, and the samples that it includes.
struct StatementMemory: Sendable {
    var value: JSONValue = .null
    /// The samples of the last batch whose statements have arrived. The queue may deliver them again after a
    /// crash, because it settles a batch before the next one.
    private(set) var included: Set<SampleID> = []
    /// Retried dead letters whose statements have arrived, the latest last. The queue delivers retries between
    /// other batches, at any time, so the samples of the last batch are not enough.
    private(set) var retried: [SampleID] = []
    private static var mostRetried: Int { 512 }
    /// A number that rises with each saved state. A page of ``RefusedStatements``, which is saved first, may be
    /// ahead of it.
    private(set) var generation = 0
    /// The pages of ``RefusedStatements`` in the store.
    var pages: Set<UInt64> = []

    init() {}

    /// Advances to the state after a batch. The queue may split a repeated batch in another way: while some
    /// samples of the last batch are repeated, the others may follow.
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
        // Damaged numbers must not overflow later.
        generation = min(max(json["generation"]?.int ?? 0, 0), 1 << 53)
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
