/// A value that many others have in common, and that each of them refers to instead of having a copy.
///
/// Equality and hash are those of the value.
package final class Shared<Value: Hashable & Sendable>: Hashable, Sendable {
    /// The value, which never changes.
    package let value: Value

    /// Creates a value to be shared.
    package init(_ value: Value) { self.value = value }

    package static func == (left: Shared, right: Shared) -> Bool { left === right || left.value == right.value }

    package func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
