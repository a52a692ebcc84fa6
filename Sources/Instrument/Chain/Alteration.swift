/// A change that a backend made to samples because the format or the limits of its service do not allow the original.
///
/// The set is open; a backend of yours may have its kinds:
///
/// ```swift
/// extension Alteration { static let translatedTitles = Alteration("translated titles") }
/// ```
public struct Alteration: Hashable, Sendable, CustomStringConvertible {
    /// The plural that follows a count in a log.
    public let description: String

    /// Creates a kind of alteration, named by a plural: `shortened texts`.
    public init(_ description: String) { self.description = description }

    /// Texts that were cut to the longest length that the service accepts.
    public static let shortenedTexts = Alteration("shortened texts")
    /// Names that were cut to the longest length that the service accepts.
    public static let shortenedNames = Alteration("shortened names")
    /// Names and short texts with characters that the format does not allow; each such character was replaced.
    public static let replacedCharacters = Alteration("texts with replaced characters")
    /// Attributes under another name, because the service reserves the original name.
    public static let renamedAttributes = Alteration("renamed attributes")
    /// Attributes that were left out: the service accepts no more attributes, or none with such a name or value.
    public static let omittedAttributes = Alteration("omitted attributes")
    /// Numbers that the service stores with fewer digits than they have.
    public static let roundedNumbers = Alteration("rounded numbers")
    /// Times outside of the range of the format, replaced by the nearest time inside.
    public static let clampedTimes = Alteration("clamped times")
}

/// The count of each alteration.
package typealias AlterationCounts = [Alteration: Int]

/// Counts a backend's alterations and reports them, once for each batch that the service accepted.
package final class AlterationLog: Sendable {
    private let name: BackendName
    private let report: @Sendable (Diagnostic) -> Void
    private let sums = Lock(AlterationCounts())

    package init(_ name: BackendName, report: @escaping @Sendable (Diagnostic) -> Void) {
        self.name = name
        self.report = report
    }

    /// The alterations so far.
    package var counts: AlterationCounts { sums.withLock { $0 } }

    /// Adds the alterations of an accepted batch, in a fixed order.
    package func record(_ counts: AlterationCounts) {
        if counts.isEmpty { return }
        sums.withLock { $0.merge(counts, uniquingKeysWith: +) }
        for (alteration, count) in counts.sortedByBytes(of: \.key.description) {
            report(.altered(name, alteration, count: count))
        }
    }
}
