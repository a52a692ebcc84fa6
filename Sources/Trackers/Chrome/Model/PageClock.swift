internal import Instrument

/// Maps instants of a page's clock to those of this process.
///
/// A question with its answer bounds the offset of the clocks from both sides, however late the answer is: the page
/// read its clock between the question and the answer. The narrowest bounds hold; they widen with time, because two
/// machines' clocks drift apart.
struct PageClock: Hashable, Sendable {
    /// How far two clocks drift apart at most, as a share of the time.
    private static let drift = 1e-4

    /// A bound of the offset (ours minus the page's) in nanoseconds, and when it was measured.
    private struct Bound: Hashable {
        var offset: Double
        var instant: MonotonicInstant

        func loosened(at now: MonotonicInstant, _ sign: Double) -> Double {
            offset + sign * PageClock.drift * max(0, Double(instant.duration(to: now).nanoseconds))
        }
    }

    private var lower: Bound?
    private var upper: Bound?
    /// The instant of the latest question that was answered.
    private(set) var latestSample: MonotonicInstant?

    /// Takes the page's time, in milliseconds, as it was between two instants.
    mutating func sample(page milliseconds: Double, between sent: MonotonicInstant, and received: MonotonicInstant) {
        guard let page = Self.nanoseconds(milliseconds), sent <= received else { return }
        latestSample = received
        let low = Double(sent.nanoseconds) - page
        let high = Double(received.nanoseconds) - page
        let (oldLow, oldHigh) = (lower?.loosened(at: received, -1), upper?.loosened(at: received, 1))
        // Bounds that contradict the earlier ones are of a clock that was set, or of a machine that slept.
        let isContradiction = oldHigh.map { low > $0 } ?? false || oldLow.map { high < $0 } ?? false
        if isContradiction || oldLow.map({ low >= $0 }) ?? true { lower = Bound(offset: low, instant: received) }
        if isContradiction || oldHigh.map({ high <= $0 }) ?? true { upper = Bound(offset: high, instant: received) }
    }

    /// The instant at which the page's clock showed a time that was heard of at `received`; never later than that.
    func instant(page milliseconds: Double, received: MonotonicInstant) -> MonotonicInstant {
        guard let page = Self.nanoseconds(milliseconds), let lower, let upper else { return received }
        let offset = (lower.loosened(at: received, -1) + upper.loosened(at: received, 1)) / 2
        guard let nanoseconds = Int64(exactly: (page + offset).rounded()) else { return received }
        return min(received, MonotonicInstant(nanoseconds: nanoseconds))
    }

    /// Nil beyond some centuries.
    private static func nanoseconds(_ milliseconds: Double) -> Double? {
        milliseconds.isFinite && abs(milliseconds) < 1e13 ? milliseconds * 1e6 : nil
    }
}
