package import Instrument

extension WallTime {
    /// The wall time that lies nanoseconds later, in whole milliseconds rounded down; saturates.
    package func advanced(nanoseconds: Int64) -> WallTime {
        WallTime(milliseconds: milliseconds.saturatingAdd(nanoseconds.scaled(by: 1, over: 1_000_000)))
    }

    /// Nanoseconds from another wall time to this one; saturates.
    package func nanoseconds(since other: WallTime) -> Int64 {
        milliseconds.saturatingSubtract(other.milliseconds).saturatingMultiply(1_000_000)
    }
}
