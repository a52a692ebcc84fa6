internal import InstrumentHTTP
internal import InstrumentText

/// An address with placeholders for a number and a time (ISO/IEC 23009-1 section 5.3.9.4.4).
struct SegmentTemplate: Hashable, Sendable {
    enum Part: Hashable, Sendable {
        case text(String)
        case number(width: Int)
        case time(width: Int)
    }

    var base: HTTPURL
    var parts: [Part]

    /// Returns the address of a segment. The template was checked once; digits do not change its validity.
    func url(number: Int64, time: Int64) -> HTTPURL {
        if parts.isEmpty { return base }
        return (try? base.resolving(text(number: number, time: time))) ?? base
    }

    func text(number: Int64, time: Int64) -> String {
        parts.reduce(into: "") { text, part in
            switch part {
            case .text(let piece): text += piece
            case .number(let width): text += number.padded(width)
            case .time(let width): text += time.padded(width)
            }
        }
    }
}

extension SegmentTemplate {
    /// The reason why a template is invalid.
    enum Fault: Error, Hashable {
        case unclosed, unknownIdentifier(String), invalidWidth(String), tooLong

        /// The fault in words.
        var reason: String {
            switch self {
            case .unclosed: "`$` must enclose each identifier, and `$$` stands for `$` (found an odd number of `$`)"
            case .unknownIdentifier(let name):
                "`$\(name)$` must be one of $RepresentationID$, $Number$, $Time$ and $Bandwidth$"
            case .invalidWidth(let text):
                "the width of a number must be written as `%0` with digits and `d`, such as `$Number%05d$` (found `\(text)`)"
            case .tooLong: "the address exceeds the limit of its length"
            }
        }
    }

    /// Reads a template and substitutes the values that all segments of a representation share.
    ///
    /// A template that repeats a representation's identifier amplifies the input: a result of more than `limit` bytes
    /// is an error.
    init(
        _ text: String,
        base: HTTPURL,
        representation: String,
        bandwidth: Int64,
        limit: Int = ManifestLimits().lineBytes
    ) throws(Fault) {
        self.base = base
        parts = []
        var (literal, length) = ("", text.utf8.count)
        var pieces = text.split(separator: "$", omittingEmptySubsequences: false)[...]
        guard pieces.count % 2 == 1 else { throw .unclosed }
        while let piece = pieces.popFirst() {
            literal += piece
            guard let identifier = pieces.popFirst() else { break }
            if identifier.hasPrefix("RepresentationID") { length += representation.utf8.count }
            guard length <= limit else { throw .tooLong }
            if identifier.isEmpty { literal += "$" } else { try add(identifier, &literal, representation, bandwidth) }
        }
        if !literal.isEmpty { parts.append(.text(literal)) }
    }

    private mutating func add(
        _ identifier: Substring,
        _ literal: inout String,
        _ representation: String,
        _ bandwidth: Int64
    ) throws(Fault) {
        let name = identifier.prefix { $0 != "%" }
        let width = try Self.width(identifier.dropFirst(name.count))
        switch name {
        case "RepresentationID": literal += representation
        case "Bandwidth": literal += bandwidth.padded(width)
        case "Number", "Time":
            if !literal.isEmpty { parts.append(.text(literal)) }
            literal = ""
            parts.append(name == "Number" ? .number(width: width) : .time(width: width))
        default: throw .unknownIdentifier(name.excerpt())
        }
    }

    /// The width in `%0Nd`; 1 without a width.
    private static func width(_ format: Substring) throws(Fault) -> Int {
        if format.isEmpty { return 1 }
        guard format.hasPrefix("%0"), format.hasSuffix("d"), let width = Int(format.dropFirst(2).dropLast()),
            0...20 ~= width
        else { throw .invalidWidth(format.contains("://") ? "an address" : format.excerpt()) }
        return max(width, 1)
    }
}

extension SegmentTemplate: CustomStringConvertible, CustomReflectable {
    /// The base without its query: a template may contain tokens.
    var description: String { base.description }
    var customMirror: Mirror { Mirror(self, children: []) }
}
