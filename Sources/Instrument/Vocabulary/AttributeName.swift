/// The name of an attribute, interned: comparing two costs an integer comparison.
public struct AttributeName: Hashable, Sendable {
    /// The vocabulary's names, then the names of its actions' time attributes, then whatever comes.
    package static let table = NameTable(
        VocabularyName.allCases.map { "\($0)" } + VocabularyAction.allCases.map { "timeSince" + $0.wireName }
    )

    /// The number of names in the vocabulary, which have the first numbers.
    @inline(__always)
    static var vocabularyCount: UInt32 { VocabularyName.adSystem.rawValue + 1 + VocabularyAction.adError.rawValue + 1 }

    @usableFromInline
    package let number: UInt32

    /// Creates the name with the given spelling, which is also the spelling on the wire.
    public init(_ spelling: String) { number = Self.table.number(of: spelling) }

    @inlinable
    init(_ name: VocabularyName) { number = name.rawValue }

    /// The name of an action's time attribute: these follow the vocabulary's names in the table.
    @inlinable
    init(timeSince action: VocabularyAction) { number = VocabularyName.adSystem.rawValue + 1 + action.rawValue }

    /// The spelling.
    public var spelling: String { Self.table.name(of: number) }
}

extension AttributeName: ExpressibleByStringLiteral, CustomStringConvertible {
    /// Creates the name with the given spelling.
    public init(stringLiteral spelling: String) { self.init(spelling) }

    /// The spelling.
    public var description: String { spelling }
}
