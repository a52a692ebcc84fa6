internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// What a player fetches, as far as it is tried again differently.
public enum ResourceKind: Hashable, Sendable, CaseIterable {
    /// A master playlist, or an MPD.
    case manifest
    /// A media playlist, the first time and each time it is refreshed.
    case playlist
    /// A segment of media.
    case segment
    /// An initialization section.
    case initialization
    /// A key.
    case key
}

/// How long a player waits before it tries again.
public enum RetryBackoff: Hashable, Sendable {
    /// The same delay each time.
    case constant(Duration)
    /// `step` × (number of failures − 1), at most `maximum`: the first retry comes at once.
    case linearFromZero(step: Duration, maximum: Duration)
    /// `step` × number of failures, at most `maximum`.
    case linear(step: Duration, maximum: Duration)
    /// `first` × `factor` ^ (number of failures − 1), at most `maximum`, and then up to `jitter` of it more or less.
    case exponential(first: Duration, factor: Double, maximum: Duration, jitter: Double)

    /// The delay before the next try.
    ///
    /// - Parameters:
    ///   - failures: how often it has failed, from 1.
    ///   - random: between 0 and 1; ½ gives the delay without jitter.
    public func delay(after failures: Int, random: Double = 0.5) -> Duration {
        let failures = Double(max(1, failures))
        switch self {
        case .constant(let delay): return max(delay, .zero)
        case .linearFromZero(let step, let maximum): return Self.limited(step.seconds * (failures - 1), maximum)
        case .linear(let step, let maximum): return Self.limited(step.seconds * failures, maximum)
        case .exponential(let first, let factor, let maximum, let jitter):
            let scale = pow(max(1, factor), min(failures - 1, 1000))
            let delay = Self.limited(first.seconds * scale, maximum)
            return Self.limited(delay.seconds * (1 + jitter * (2 * random - 1)), .seconds(1_000_000))
        }
    }

    private static func limited(_ seconds: Double, _ maximum: Duration) -> Duration {
        min(Duration(clampingSeconds: seconds), max(maximum, .zero))
    }
}

/// How a player goes on when fetching something fails.
public struct RetryPolicy: Hashable, Sendable {
    /// Which HTTP statuses are worth another try.
    public enum StatusRule: Hashable, Sendable {
        /// All but 2xx.
        case all
        /// All but 2xx and those given.
        case allExcept(Set<Int>)
        /// Those given, and no other.
        case only(Set<Int>)
        /// None.
        case none
    }

    /// How often it is tried again after an answer or a connection that failed.
    public var maximumRetries: Int
    /// How often it is tried again after a timeout.
    public var maximumTimeoutRetries: Int
    /// The wait before a retry.
    public var backoff: RetryBackoff
    /// The wait before a retry after a timeout.
    public var timeoutBackoff: RetryBackoff
    /// From the request to the first byte; nil waits for ever.
    public var firstByteTimeout: Duration?
    /// From the request to the last byte; nil waits for ever.
    public var loadTimeout: Duration?
    /// Without a byte in mid-transfer; nil waits for ever.
    public var stallTimeout: Duration?
    /// Which HTTP statuses are worth another try.
    public var statuses: StatusRule
    /// Whether a connection that failed or broke is worth another try.
    public var retriesConnections: Bool

    /// Creates a policy; counts are not negative. After a timeout it is tried again like after other failures, where
    /// nothing else is given.
    public init(
        maximumRetries: Int,
        maximumTimeoutRetries: Int? = nil,
        backoff: RetryBackoff,
        timeoutBackoff: RetryBackoff? = nil,
        firstByteTimeout: Duration? = nil,
        loadTimeout: Duration? = nil,
        stallTimeout: Duration? = nil,
        statuses: StatusRule = .all,
        retriesConnections: Bool = true
    ) {
        self.maximumRetries = max(0, maximumRetries)
        self.maximumTimeoutRetries = max(0, maximumTimeoutRetries ?? maximumRetries)
        self.backoff = backoff
        self.timeoutBackoff = timeoutBackoff ?? backoff
        self.firstByteTimeout = firstByteTimeout
        self.loadTimeout = loadTimeout
        self.stallTimeout = stallTimeout
        self.statuses = statuses
        self.retriesConnections = retriesConnections
    }

    /// What went wrong with a request.
    public enum Failure: Hashable, Sendable {
        /// No connection, or one that broke.
        case connection
        /// One of the timeouts.
        case timeout
        /// An HTTP status other than 2xx.
        case status(Int)
    }

    /// The wait before the next try, or nil if there is none any more.
    ///
    /// - Parameters:
    ///   - failure: what went wrong this time.
    ///   - failures: how often it has failed, this one included, from 1.
    ///   - random: between 0 and 1, for players that spread their retries.
    public func retryDelay(after failure: Failure, failures: Int, random: Double = 0.5) -> Duration? {
        switch failure {
        case .timeout:
            return failures <= maximumTimeoutRetries ? timeoutBackoff.delay(after: failures, random: random) : nil
        case .status(let status) where !retries(status): return nil
        case .connection where !retriesConnections: return nil
        case .status, .connection:
            return failures <= maximumRetries ? backoff.delay(after: failures, random: random) : nil
        }
    }

    private func retries(_ status: Int) -> Bool {
        switch statuses {
        case .all: true
        case .allExcept(let statuses): !statuses.contains(status)
        case .only(let statuses): statuses.contains(status)
        case .none: false
        }
    }
}

/// An HTTP status upon which a player does not try again, but takes another variant at once, if there is one.
public struct ImmediateFallback: Hashable, Sendable {
    /// The statuses.
    public var statuses: Set<Int>
    /// The failing variant is left alone for so long.
    public var excludedFor: Duration

    /// Creates a rule.
    public init(statuses: Set<Int>, excludedFor: Duration) {
        self.statuses = statuses
        self.excludedFor = excludedFor
    }
}

/// What a player does when the retries of a resource are used up.
public enum FailureResponse: Hashable, Sendable {
    /// Takes another variant, and leaves the failing one alone for so long (nil: for good).
    case useOtherVariant(excludedFor: Duration?)
    /// Goes on behind the segment, which is missing then.
    case skipSegment
    /// Stops with an error when the buffer has been played.
    case fail
}
