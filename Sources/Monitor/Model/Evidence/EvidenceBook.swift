internal import Instrument

/// Which pieces of evidence are kept: those of the newest faults, within bounds of number and size.
package struct EvidenceBook: Sendable {
    /// The bounds.
    package struct Limits: Hashable, Sendable {
        /// The pieces of all streams.
        package var pieces = 2_000
        /// The bytes of all streams.
        package var bytes = 64 << 20
        /// The pieces of one stream, so that one that flickers does not take the room of the others.
        package var piecesOfStream = 30

        package init() {}

        /// The bounds of requests that failed: when all streams fail at once, their requests leave the pictures alone.
        static let ofRequests: Limits = {
            var limits = Limits()
            (limits.pieces, limits.bytes, limits.piecesOfStream) = (1_000, 16 << 20, 5)
            return limits
        }()
    }

    private let limits: Limits
    private var entries: [String: EvidenceEntry] = [:]
    /// The identifiers of each stream, the oldest first.
    private var streams: [String: [String]] = [:]
    /// The identifiers in the order of their times; those before `first` are gone.
    private var order: [String] = []
    private var first = 0
    /// The bytes of all pieces.
    package private(set) var byteCount = 0
    private var number = 0

    init(limits: Limits = Limits()) { self.limits = limits }

    package var count: Int { entries.count }

    /// The entry with an identifier; nil for an unknown one.
    package subscript(_ id: String) -> EvidenceEntry? { entries[id] }

    /// The pieces of a stream, the oldest first.
    package func entries(of stream: String) -> [EvidenceEntry] {
        streams[stream].map { $0.compactMap { entries[$0] } } ?? []
    }

    /// The pieces of the latest fault of a rule: those of one moment.
    func latest(of stream: String, rule: String) -> [EvidenceEntry] {
        let known = entries(of: stream).filter { $0.rule == rule }
        return known.filter { $0.time == known.last?.time }
    }

    /// Takes a piece; nil for one that is too large.
    /// - Returns: its entry, and the identifiers of the pieces that make room for it.
    mutating func add(
        _ piece: EvidencePiece,
        of stream: String,
        rule: String,
        at time: WallTime
    ) -> (entry: EvidenceEntry, gone: [String])? {
        guard piece.bytes.count <= min(EvidenceEntry.mostBytes, limits.bytes), !piece.bytes.isEmpty else { return nil }
        number += 1
        let entry = EvidenceEntry(piece, of: stream, rule: rule, number: number, at: time)
        guard entries[entry.id] == nil else { return nil }
        insert(entry)
        return (entry, trim(stream))
    }

    /// Takes the pieces of an earlier process.
    /// - Returns: the identifiers of those for which there is no room.
    mutating func restore(_ saved: [EvidenceEntry]) -> [String] {
        var gone: [String] = []
        for entry in saved.sorted(by: Self.isBefore) where entries[entry.id] == nil {
            insert(entry)
            gone += trim(entry.stream)
        }
        return gone
    }

    /// The order in which the pieces were added: those of one fault have one time.
    private static func isBefore(_ left: EvidenceEntry, _ right: EvidenceEntry) -> Bool {
        let rank = { (entry: EvidenceEntry) in EvidenceKind.allCases.firstIndex(of: entry.kind) ?? 0 }
        return (left.time, left.stream, left.rule, rank(left), left.id)
            < (right.time, right.stream, right.rule, rank(right), right.id)
    }

    private mutating func insert(_ entry: EvidenceEntry) {
        entries[entry.id] = entry
        streams[entry.stream, default: []].append(entry.id)
        order.append(entry.id)
        byteCount += entry.byteCount
    }

    private mutating func trim(_ stream: String) -> [String] {
        var gone: [String] = []
        while let ids = streams[stream], ids.count > limits.piecesOfStream, let oldest = ids.first {
            remove(oldest)
            gone.append(oldest)
        }
        while entries.count > limits.pieces || byteCount > limits.bytes, first < order.count {
            let oldest = order[first]
            first += 1
            if remove(oldest) { gone.append(oldest) }
        }
        // Identifiers that are gone take no more room than the others.
        if order.count > 2 * limits.pieces {
            order = order[first...].filter { entries[$0] != nil }
            first = 0
        }
        return gone
    }

    @discardableResult
    private mutating func remove(_ id: String) -> Bool {
        guard let entry = entries.removeValue(forKey: id) else { return false }
        streams[entry.stream]?.removeAll { $0 == id }
        if streams[entry.stream]?.isEmpty == true { streams[entry.stream] = nil }
        byteCount -= entry.byteCount
        return true
    }
}
