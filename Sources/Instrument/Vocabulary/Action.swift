/// The name of an event, and the name of the attribute in which later events carry its age.
///
/// The set is open. Yours is one line, and is used like ours:
///
/// ```swift
/// extension Action {
///     static let menuOpen = Action("MenuOpen")
/// }
/// instrument.emit(.menuOpen, from: tracker)
/// ```
///
/// Two actions are equal if their names are.
public struct Action: Sendable {
    private static let table = NameTable(VocabularyAction.allCases.map(\.wireName))

    @usableFromInline package let number: UInt32
    /// The attribute in which later events of the same tracker carry the milliseconds since this action.
    public let timeAttribute: AttributeName

    /// Creates an action with the wire name `name`, whose age is carried in `timeSince<name>`.
    public init(_ name: String) {
        self.init(name, timeAttribute: AttributeName("timeSince" + name))
    }

    /// Creates an action with the wire name `name`, whose age is carried in `timeAttribute`.
    public init(_ name: String, timeAttribute: AttributeName) {
        number = Self.table.number(of: name)
        self.timeAttribute = timeAttribute
    }

    @inlinable
    init(_ action: VocabularyAction) {
        number = action.rawValue
        timeAttribute = AttributeName(timeSince: action)
    }

    /// The wire name, in upper camel case for ours.
    public var name: String { Self.table.name(of: number) }

    /// The key of ``timeAttribute``, in milliseconds.
    public var timeKey: AttributeKey<Int> { AttributeKey(timeAttribute) }
}

extension Action: Hashable {
    /// Equal names.
    @inlinable
    public static func == (left: Action, right: Action) -> Bool { left.number == right.number }

    /// Hashes the name's number.
    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

extension Action: CustomStringConvertible {
    /// The wire name.
    public var description: String { name }
}
