/// The name of an attribute together with the type of its value: `event[.bitrate]` is an `Int?`.
///
/// The set is open. Yours is one line:
///
/// ```swift
/// extension AttributeKey where Value == Int {
///     static var score: Self { "score" }
/// }
/// event[.score] = 7
/// ```
///
/// Creating a key looks its name up in a table (about 50 ns). Where that matters, keep the key in a `static let` of
/// a type of yours and let the computed property return it; the built-in keys are constants.
public struct AttributeKey<Value: AttributeValueConvertible>: Hashable, Sendable {
    /// The name without the type.
    public let name: AttributeName

    /// Creates a typed key for `name`.
    @inlinable
    public init(_ name: AttributeName) { self.name = name }

    @inlinable
    init(_ name: VocabularyName) { self.name = AttributeName(name) }

    /// Creates a typed key with the given wire name.
    public init(_ spelling: String) { name = AttributeName(spelling) }
}

extension AttributeKey: ExpressibleByStringLiteral, CustomStringConvertible {
    /// Creates a typed key with the given wire name.
    public init(stringLiteral spelling: String) { self.init(spelling) }

    /// The wire name.
    public var description: String { name.spelling }
}
