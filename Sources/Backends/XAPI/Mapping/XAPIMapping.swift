public import Instrument
public import InstrumentJSON

/// What is said of a sample: the one place to change when statements are to look otherwise.
///
/// ```swift
/// struct Likes: XAPIMapping {
///     let viewer: Statement.Actor
///     func statements(for record: SampleRecord, remembering memory: inout JSONValue) -> [Statement] {
///         guard case .event(let event) = record.sample, event.action == .like, let film = event[.filmID] else { return [] }
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
/// **The same record with the same memory gives the same statements**, identifiers and times included: a batch may come
/// again, also to the next process, and an LRS tells copies by their identifiers. Nothing random, and no clock. The
/// backend asks once about each sample, in order, and keeps what is remembered, whether or not the LRS takes the statements;
/// those that it refuses are kept as they are, for a retry.
public protocol XAPIMapping: Sendable {
    /// Under which name something is remembered about this sample; nil, the default, where nothing is.
    func memoryKey(for record: SampleRecord) -> String?
    /// The statements that a sample is worth, in order; none for what is not to be said, which counts as delivered.
    ///
    /// Each has an identifier; the first one the record's own, further ones from ``derivedID(of:_:)``. `memory` is `null`
    /// where nothing was remembered under the key yet.
    func statements(for record: SampleRecord, remembering memory: inout JSONValue) -> [Statement]
}

extension XAPIMapping {
    /// Nothing is remembered.
    public func memoryKey(for record: SampleRecord) -> String? { nil }

    /// An identifier for a further statement about a sample: the same each time, and of the form of a UUID, version 4.
    public func derivedID(of id: SampleID, _ number: Int) -> SampleID {
        let source = RandomSource(DerivedBits(id: id, salt: number))
        return SampleID(source.identifier()) ?? id
    }
}

/// Bits that follow from a sample's identifier: at first, without salt, those of the identifier itself.
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
