/// The name of an attribute, interned: comparing two costs an integer comparison.
public struct AttributeName: Hashable, Sendable {
    package static let table = NameTable(VocabularyNames.attributes)

    package let number: UInt32

    /// Creates the name with the given spelling, which is also what goes on the wire.
    public init(_ spelling: String) { number = Self.table.number(of: spelling) }

    /// The spelling.
    public var spelling: String { Self.table.name(of: number) }
}

extension AttributeName: ExpressibleByStringLiteral, CustomStringConvertible {
    /// Creates the name with the given spelling.
    public init(stringLiteral spelling: String) { self.init(spelling) }

    /// The spelling.
    public var description: String { spelling }
}
