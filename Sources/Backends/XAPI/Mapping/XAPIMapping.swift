public import Instrument
public import InstrumentJSON

/// Maps samples to statements. Implement this protocol to change the statements that a backend sends.
///
/// ```swift
/// struct Likes: XAPIMapping {
///     let viewer: Statement.Actor
///     func statements(for record: SampleRecord, remembering memory: inout JSONValue) -> [Statement] {
///         guard case .event(let event) = record.sample, event.action == .like, let film = event[.filmID] else {
///             return []
///         }
///         return [
///             Statement(
///                 id: record.id,
///                 actor: viewer,
///                 verb: Statement.Verb("https://example.org/verbs/liked"),
///                 object: .activity(Statement.Activity(IRI(stringLiteral: "https://example.org/films/\(film)"))),
///                 timestamp: event.time.wallTime
///             )
///         ]
///     }
/// }
/// ```
///
/// **The same record with the same memory must give the same statements**, identifiers and times included: a
/// batch may be sent again, also by the next process, and an LRS recognizes copies by their identifiers. Use no
/// random numbers and no clock. The backend maps each sample once, in order, and keeps the memory, whether or
/// not the LRS accepts the statements; refused statements are kept unchanged for a retry.
public protocol XAPIMapping: Sendable {
    /// Returns the key of the memory that the sample reads and changes; nil, the default, for a sample without
    /// a memory.
    func memoryKey(for record: SampleRecord) -> String?
    /// Returns the statements of a sample, in order. A sample without statements counts as delivered.
    ///
    /// Each statement has an identifier: the first one the record's own, further ones from
    /// `derivedID(of:_:)`. `memory` is `null` before the first change under the key.
    func statements(for record: SampleRecord, remembering memory: inout JSONValue) -> [Statement]
    /// The statements of several samples with the same memory key, in order: one array for each sample.
    ///
    /// The backend calls this method once per key and batch. The default calls
    /// ``statements(for:remembering:)-(SampleRecord,_)`` for each sample; a mapping whose memory is costly to
    /// read and write as JSON reads and writes it only once here. Both have to give the same statements and the
    /// same memory.
    func statements(for records: [SampleRecord], remembering memory: inout JSONValue) -> [[Statement]]
}

extension XAPIMapping {
    /// Returns nil: no sample has a memory.
    public func memoryKey(for record: SampleRecord) -> String? { nil }

    /// Maps sample by sample.
    public func statements(for records: [SampleRecord], remembering memory: inout JSONValue) -> [[Statement]] {
        var statements: [[Statement]] = []
        for record in records { statements.append(self.statements(for: record, remembering: &memory)) }
        return statements
    }

    /// Returns the identifier of a further statement about a sample: the same each time, in the form of a
    /// version-4 UUID.
    package func derivedID(of id: SampleID, _ number: Int) -> SampleID {
        let source = RandomSource(DerivedBits(id: id, salt: number))
        return SampleID(source.identifier()) ?? id
    }
}

/// Bits derived from a sample's identifier; without a salt, they begin with the bits of the identifier.
struct DerivedBits: RandomNumberGenerator, Sendable {
    private let seed: [UInt8]
    private var words: [UInt64]
    private var round = 0

    init(id: SampleID, salt: Int? = nil) {
        let digits = id.description.filter { $0 != "-" }
        let own = [digits.prefix(16), digits.suffix(16)].compactMap { UInt64($0, radix: 16) }
        seed = Array("\(id) \(salt ?? 0)".utf8)
        words = salt == nil ? own.reversed() : []
    }

    mutating func next() -> UInt64 {
        if let word = words.popLast() { return word }
        round += 1
        let digest = SHA256.digest(of: seed + Array(" \(round)".utf8))
        words = stride(from: 0, to: 24, by: 8).map { start in
            digest[(start + 8)..<(start + 16)].reduce(0) { $0 << 8 | UInt64($1) }
        }
        return digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
