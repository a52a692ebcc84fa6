internal import Synchronization

/// The order in which scopes of ``AnalyticsValues`` were opened, over tasks and environments: a later scope is nearer
/// to what is logged.
struct ScopeNumber: Comparable, Hashable, Sendable {
    private static let count = Atomic<UInt64>(0)

    /// The number of values without a scope.
    static let none = ScopeNumber(number: 0)

    private let number: UInt64

    /// The number of a scope that is opened now.
    static func next() -> ScopeNumber {
        ScopeNumber(number: count.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    static func < (left: ScopeNumber, right: ScopeNumber) -> Bool { left.number < right.number }
}
