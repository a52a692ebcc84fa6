/// The bandwidth and latency of a link over time, piecewise constant.
///
/// ```swift
/// let dip = try DeliverySchedule("4000k for 10s, 600k for 20s, 4000k")
/// dip.instant(ofByte: 6_000_000, startingAt: .zero)  // 24 s: 5 MB in the first ten seconds, 1 MB at 600 kbit/s
/// ```
///
/// Its time zero is the first request of the session (or of the server) whose link it is. After the last step either the
/// first comes again, or the last one holds.
public struct DeliverySchedule: Hashable, Sendable {
    /// A stretch of time in which nothing changes.
    public struct Step: Hashable, Sendable {
        /// The link's bandwidth, shared by all responses that are under way.
        public var bandwidth: Bandwidth
        /// The round trip: from a request's arrival to the head of its response.
        public var latency: Duration
        /// How long the step lasts; nil means without an end.
        public var duration: Duration?

        /// Creates a step.
        public init(_ bandwidth: Bandwidth, latency: Duration = .zero, for duration: Duration? = nil) {
            self.bandwidth = bandwidth
            self.latency = max(.zero, latency)
            self.duration = duration.map { max(.zero, $0) }
        }
    }

    /// The steps in order; never empty.
    public let steps: [Step]
    /// Whether the first step follows the last one.
    public let repeats: Bool
    /// The start of each step, and the units that the link has carried by then.
    let table: [Entry]
    /// The length and the load of one round; nil if it does not repeat.
    let round: (length: Int64, units: UInt128)?

    /// Creates a schedule of steps; no steps are one that is unlimited.
    ///
    /// What follows a step without duration is never reached and is left out; such a schedule does not repeat, nor does
    /// one that takes no time.
    public init(_ steps: [Step], repeats: Bool = false) {
        let end = steps.firstIndex { $0.duration == nil }.map { $0 + 1 } ?? steps.count
        let kept = steps.isEmpty ? [Step(.unlimited)] : Array(steps[..<end])
        (table, round) = Self.tabulate(kept, repeats: repeats)
        self.steps = kept
        self.repeats = round != nil
    }

    /// A link of one bandwidth.
    public init(_ bandwidth: Bandwidth, latency: Duration = .zero) { self.init([Step(bandwidth, latency: latency)]) }

    /// A link that holds nothing up.
    public static let unlimited = DeliverySchedule(.unlimited)

    /// Equal steps, and both repeated or neither.
    public static func == (left: DeliverySchedule, right: DeliverySchedule) -> Bool {
        left.steps == right.steps && left.repeats == right.repeats
    }

    /// Hashes the steps.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(steps)
        hasher.combine(repeats)
    }
}
