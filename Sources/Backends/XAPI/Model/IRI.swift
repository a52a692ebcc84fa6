public import InstrumentJSON

/// An absolute IRI (RFC 3987): the name of a verb, an activity or an extension.
///
/// Use ``init(checking:)`` for text from outside. A literal in code is not checked, so that vocabularies can be
/// constants; the validator reports a faulty one.
///
/// Source: xAPI 1.0.3, Data 3.1 and 4.3.
public struct IRI: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The IRI's text.
    public let description: String

    /// Creates an IRI; nil if the text is not an IRI with a scheme.
    public init?(checking text: String) {
        guard IRIFormat.isValid(text) else { return nil }
        description = text
    }

    /// Creates an IRI from a literal, without a check.
    public init(stringLiteral text: String) { description = text }
}

/// Values under IRIs, for data that the specification has no place for. Any value is allowed, including null.
///
/// Source: xAPI 1.0.3, Data 4.1.
public typealias Extensions = [IRI: JSONValue]
