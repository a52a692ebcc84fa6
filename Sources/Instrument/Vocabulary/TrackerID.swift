/// A tracker's number in its instrument: 0, 1, 2 …, never used again.
public struct TrackerID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number.
    public let number: Int

    /// Creates the identifier with that number; one that the instrument did not give is an unknown tracker's.
    public init(_ number: Int) { self.number = number }

    /// In the order in which trackers were added.
    public static func < (left: TrackerID, right: TrackerID) -> Bool { left.number < right.number }

    /// The number.
    public var description: String { String(number) }
}
