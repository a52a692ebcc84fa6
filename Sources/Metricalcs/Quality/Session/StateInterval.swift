public import Instrument

/// A part of a session during which its state does not change.
///
/// The intervals of a session tile it: each begins where the one before ends, and none is empty.
public struct StateInterval: Hashable, Sendable {
    /// The state during the interval.
    public var state: SessionState
    /// The instant at which the state began.
    public var begin: MonotonicInstant
    /// When the state ended, or the latest instant that is known.
    public var end: MonotonicInstant

    /// Creates an interval.
    package init(_ state: SessionState, from begin: MonotonicInstant, to end: MonotonicInstant) {
        self.state = state
        self.begin = begin
        self.end = end
    }

    /// The length in whole milliseconds, as on the wire: the difference of two rounded instants, so that the lengths of
    /// all intervals add up to the length of the session.
    public var milliseconds: Int { begin.milliseconds(to: end) }
}
