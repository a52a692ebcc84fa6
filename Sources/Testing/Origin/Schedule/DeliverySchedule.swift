/// The bandwidth and latency of a link over time, piecewise constant.
///
/// ```swift
/// let dip = try DeliverySchedule("4000k for 10s, 600k for 20s, 4000k")
/// dip.instant(ofByte: 6_000_000, startingAt: .zero)  // 24 s: 5 MB in the first ten seconds, 1 MB at 600 kbit/s
/// ```
///
/// Its time zero is the first request of the session (or of the server) whose link it is. After the last step, the
/// schedule repeats or keeps the last step.
public struct DeliverySchedule: Hashable, Sendable {
    /// A time of constant bandwidth and latency.
    public struct Step: Hashable, Sendable {
        /// The link's bandwidth, shared by all active responses.
        package var bandwidth: Bandwidth
        /// The time from a request's arrival to the head of its response.
        package var latency: Duration
        /// The duration; nil means without an end.
        package var duration: Duration?

        /// Creates a step.
        public init(_ bandwidth: Bandwidth, latency: Duration = .zero, for duration: Duration? = nil) {
            self.bandwidth = bandwidth
            self.latency = max(.zero, latency)
            self.duration = duration.map { max(.zero, $0) }
        }
    }

    /// The steps in order; never empty.
    package let steps: [Step]
    /// Whether the schedule repeats after the last step.
    package let repeats: Bool
    /// The start of each step, and the units that the link has carried by then.
    let table: [Entry]
    /// The duration and the load of one round; nil if the schedule does not repeat.
    let round: (length: Int64, units: UInt128)?

    /// Creates a schedule of steps; without steps, the link is unlimited.
    ///
    /// Steps after a step without duration are never reached and are ignored. Such a schedule does not repeat, and a
    /// schedule whose steps take no time does not repeat either.
    public init(_ steps: [Step], repeats: Bool = false) {
        let end = steps.firstIndex { $0.duration == nil }.map { $0 + 1 } ?? steps.count
        let kept = steps.isEmpty ? [Step(.unlimited)] : Array(steps[..<end])
        (table, round) = Self.tabulate(kept, repeats: repeats)
        self.steps = kept
        self.repeats = round != nil
    }

    /// Creates a schedule of constant bandwidth.
    public init(_ bandwidth: Bandwidth, latency: Duration = .zero) { self.init([Step(bandwidth, latency: latency)]) }

    /// A schedule without limit.
    public static let unlimited = DeliverySchedule(.unlimited)

    /// Whether both have equal steps, and both repeat or neither repeats.
    public static func == (left: DeliverySchedule, right: DeliverySchedule) -> Bool {
        left.steps == right.steps && left.repeats == right.repeats
    }

    /// Hashes the steps.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(steps)
        hasher.combine(repeats)
    }
}
