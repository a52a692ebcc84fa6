public import InstrumentJSON

/// An absolute IRI (RFC 3987), the name of a verb, an activity, an extension …
///
/// A text that comes from elsewhere goes through ``init(checking:)``, which checks it. A literal in code is taken as it
/// stands, so that vocabularies are constants; the validator sees what is wrong with one.
///
/// Source: xAPI 1.0.3, Data 3.1 and 4.3.
public struct IRI: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The IRI's text.
    public let description: String

    /// Checks a text; nil if it is no IRI with a scheme.
    public init?(checking text: String) {
        guard IRIFormat.isValid(text) else { return nil }
        description = text
    }

    /// Takes a literal as it stands.
    public init(stringLiteral text: String) { description = text }
}

/// Values under IRIs, for what the specification has no place for. The values may be anything, also null.
///
/// Source: xAPI 1.0.3, Data 4.1.
public typealias Extensions = [IRI: JSONValue]
