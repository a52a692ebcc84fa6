internal import Synchronization

/// The name and the type of a value that app events carry.
///
/// ```swift
/// enum ScreenKey: AnalyticsKey { static let key = "screen" }
/// extension AnalyticsValues {
///     var screen: String? {
///         get { self[ScreenKey.self] }
///         set { self[ScreenKey.self] = newValue }
///     }
/// }
/// ```
///
/// Keys and attributes share their names, because scoped values also reach the events that trackers emit. A key that
/// has the name of an attribute of the vocabulary (``AttributeKey``) is that attribute: `"source"`, for example, says
/// where media is played from, and a player that reports its source wins over the scope. Choose a name of your own for
/// another meaning.
public protocol AnalyticsKey {
    /// The value's type; text unless said otherwise.
    associatedtype Value: Sendable = String
    /// The name on the wire.
    static var key: String { get }
}

/// Values that app events carry, by typed keys. There are no defaults: what was not set is nil.
public struct AnalyticsValues: Sendable {
    private struct Slot: Sendable {
        /// Nil in a scope that removes the value of an outer one.
        var value: (any Sendable)?
        var scope: ScopeNumber
    }

    private var slots: [String: Slot] = [:]
    /// The scope that what is set belongs to.
    private var scope = ScopeNumber.none

    /// No values.
    public init() {}

    /// Whether there are no values.
    public var isEmpty: Bool { slots.isEmpty || slots.allSatisfy { $0.value.value == nil } }

    /// The values in force here: those of the enclosing ``with(_:_:_:)-swift.type.method`` calls, inner over outer.
    @TaskLocal public static var current = AnalyticsValues()

    /// Whether any value was ever set in this process. Until then, `current` has none.
    private static let wasSet = Atomic<Bool>(false)

    /// ``current``; nil, without a look at the task, while no value was ever set. Every emit asks.
    static var inForce: AnalyticsValues? {
        // Relaxed: who sets a value and then emits, or starts the task that emits, does both in order.
        wasSet.load(ordering: .relaxed) ? current : nil
    }

    /// The value of a key; nil if none, or one of another type, is in its slot. Setting nil removes it.
    public subscript<Key: AnalyticsKey>(key: Key.Type) -> Key.Value? {
        get { slots[Key.key]?.value as? Key.Value }
        set {
            Self.wasSet.store(true, ordering: .relaxed)
            let isRemoved = newValue == nil && scope == .none
            slots[Key.key] = isRemoved ? nil : Slot(value: newValue, scope: scope)
        }
    }

    /// These values and `other`'s; where both have one, `other` wins.
    public func merging(_ other: AnalyticsValues) -> AnalyticsValues {
        var result = self
        result.slots.merge(other.slots) { _, new in new }
        return result
    }

    /// These values and `other`'s; where both have one, that of the scope that was opened later wins: the nearer one.
    ///
    /// Values without a scope are the outermost.
    package func mergingNearer(_ other: AnalyticsValues) -> AnalyticsValues {
        var result = self
        result.slots.merge(other.slots) { $0.scope < $1.scope ? $1 : $0 }
        return result
    }

    /// These values with one of them set in a scope that is opened now.
    package func setting<Value>(
        _ path: WritableKeyPath<AnalyticsValues, Value?>,
        _ value: Value?
    ) -> AnalyticsValues {
        var result = self
        result.scope = ScopeNumber.next()
        result[keyPath: path] = value
        result.scope = .none
        return result
    }

    /// Runs `body` with a value set in its scope; child tasks inherit it, siblings do not see it.
    public static func with<Value, Result>(
        _ path: WritableKeyPath<AnalyticsValues, Value?>,
        _ value: Value?,
        _ body: () throws -> Result
    ) rethrows -> Result {
        try $current.withValue(current.setting(path, value), operation: body)
    }

    /// Runs `body` with a value set in its scope; child tasks inherit it, siblings do not see it.
    public static func with<Value, Result>(
        _ path: WritableKeyPath<AnalyticsValues, Value?>,
        _ value: Value?,
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await $current.withValue(current.setting(path, value), operation: body, isolation: isolation)
    }

    /// The values as attributes; a type that is no attribute value is described as text.
    public var attributes: Attributes {
        var attributes = Attributes(exactCapacity: slots.count)
        for (key, slot) in slots {
            guard let value = slot.value else { continue }
            let converted = (value as? any AttributeValueConvertible)?.attributeValue
            attributes[AttributeName(key)] = converted ?? .string(String(describing: value))
        }
        return attributes
    }
}

extension AnalyticsValues: CustomStringConvertible, CustomDebugStringConvertible {
    private var lines: [String] {
        slots.compactMapValues(\.value).sortedByBytes(of: \.key).map { "\($0.key): \($0.value)" }
    }

    /// `key: value`, sorted by key, joined by ` | `.
    public var description: String { lines.joined(separator: " | ") }

    /// A line `- key: value` for each, sorted by key.
    public var debugDescription: String { lines.map { "- " + $0 }.joined(separator: "\n") }
}
