internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A kind of resource, each of which can have its own retry policy.
public enum ResourceKind: Hashable, Sendable, CaseIterable {
    /// A master playlist, or an MPD.
    case manifest
    /// A media playlist, for the first time or again.
    case playlist
    /// A segment of media.
    case segment
    /// A segment, or a file, of subtitles.
    case subtitles
    /// An initialization section.
    case initialization
    /// A key.
    case key
    /// A licence for encrypted samples.
    case licence
    /// The time of a server (`UTCTiming`).
    case clock
    /// The order of servers, from a steering server.
    case steering
}

/// The back-off of a player before a retry.
package enum RetryBackoff: Hashable, Sendable {
    /// The same delay each time.
    case constant(Duration)
    /// `step` × (number of failures − 1), at most `maximum`: the first retry is immediate.
    case linearFromZero(step: Duration, maximum: Duration)
    /// `step` × number of failures, at most `maximum`.
    case linear(step: Duration, maximum: Duration)
    /// `first` × `factor` ^ (number of failures − 1), at most `maximum`, and then up to `jitter` of it more or less.
    case exponential(first: Duration, factor: Double, maximum: Duration, jitter: Double)

    /// The delay before the next attempt.
    ///
    /// - Parameters:
    ///   - failures: the number of failures, from 1.
    ///   - randomness: between 0 and 1; ½ gives the delay without jitter.
    package func delay(after failures: Int, randomness: Double = 0.5) -> Duration {
        let failures = Double(max(1, failures))
        switch self {
        case .constant(let delay): return max(delay, .zero)
        case .linearFromZero(let step, let maximum): return Self.limited(step.seconds * (failures - 1), maximum)
        case .linear(let step, let maximum): return Self.limited(step.seconds * failures, maximum)
        case .exponential(let first, let factor, let maximum, let jitter):
            let scale = pow(max(1, factor), min(failures - 1, 1000))
            let delay = Self.limited(first.seconds * scale, maximum)
            return Self.limited(delay.seconds * (1 + jitter * (2 * randomness - 1)), .seconds(1_000_000))
        }
    }

    private static func limited(_ seconds: Double, _ maximum: Duration) -> Duration {
        min(Duration(clampingSeconds: seconds), max(maximum, .zero))
    }
}

/// The retries of a player when a request fails.
package struct RetryPolicy: Hashable, Sendable {
    /// The HTTP statuses at which the player retries.
    package enum StatusRule: Hashable, Sendable {
        /// All but 2xx.
        case all
        /// All but 2xx and those given.
        case allExcept(Set<Int>)
        /// Those given, and no other.
        case only(Set<Int>)
        /// None.
        case none
    }

    /// The number of retries after an error status or a failed connection.
    package var maximumRetries: Int
    /// The number of retries after a timeout.
    package var maximumTimeoutRetries: Int
    /// The back-off before a retry.
    package var backoff: RetryBackoff
    /// The back-off before a retry after a timeout.
    package var timeoutBackoff: RetryBackoff
    /// The limit from the request to the first byte; nil for none.
    package var firstByteTimeout: Duration?
    /// The limit from the request to the last byte; nil for none.
    package var loadTimeout: Duration?
    /// The limit without a byte during a transfer; nil for none.
    package var stallTimeout: Duration?
    /// What counts as an arrival for ``firstByteTimeout`` and ``stallTimeout``: a part of the resource; nil for each
    /// byte.
    package var progress: TransferParts?
    /// The HTTP statuses at which the player retries.
    package var statuses: StatusRule
    /// Whether the player retries after a connection that failed or broke.
    package var retriesConnections: Bool
    /// Whether the retries continue beyond their number while there is media to play until the next one.
    package var continuesWhileBuffered: Bool

    /// Creates a policy; counts are not negative. Timeouts are retried like other failures unless their own count and
    /// back-off are given.
    package init(
        maximumRetries: Int,
        maximumTimeoutRetries: Int? = nil,
        backoff: RetryBackoff,
        timeoutBackoff: RetryBackoff? = nil,
        firstByteTimeout: Duration? = nil,
        loadTimeout: Duration? = nil,
        stallTimeout: Duration? = nil,
        progress: TransferParts? = nil,
        statuses: StatusRule = .all,
        retriesConnections: Bool = true,
        continuesWhileBuffered: Bool = false
    ) {
        self.maximumRetries = max(0, maximumRetries)
        self.maximumTimeoutRetries = max(0, maximumTimeoutRetries ?? maximumRetries)
        self.backoff = backoff
        self.timeoutBackoff = timeoutBackoff ?? backoff
        self.firstByteTimeout = firstByteTimeout
        self.loadTimeout = loadTimeout
        self.stallTimeout = stallTimeout
        self.progress = progress
        self.statuses = statuses
        self.retriesConnections = retriesConnections
        self.continuesWhileBuffered = continuesWhileBuffered
    }

    /// The failure of a request.
    package enum Failure: Hashable, Sendable {
        /// No connection, or one that broke.
        case connection
        /// One of the timeouts.
        case timeout
        /// An HTTP status other than 2xx.
        case status(Int)
    }

    /// The delay before the next attempt; nil if the policy allows no further attempt.
    ///
    /// - Parameters:
    ///   - failure: the present failure.
    ///   - failures: the number of failures, the present one included, from 1.
    ///   - randomness: between 0 and 1, for players that spread their retries.
    package func retryDelay(after failure: Failure, failures: Int, randomness: Double = 0.5) -> Duration? {
        retries(after: failure) && failures <= maximumRetries(after: failure)
            ? delay(after: failure, failures: failures, randomness: randomness) : nil
    }

    /// Whether the player retries after such a failure at all.
    package func retries(after failure: Failure) -> Bool {
        switch failure {
        case .timeout: true
        case .status(let status): retries(status)
        case .connection: retriesConnections
        }
    }

    /// The number of retries after such a failure.
    package func maximumRetries(after failure: Failure) -> Int {
        failure == .timeout ? maximumTimeoutRetries : maximumRetries
    }

    /// The back-off after such a failure, whether or not the policy allows another attempt.
    package func delay(after failure: Failure, failures: Int, randomness: Double = 0.5) -> Duration {
        (failure == .timeout ? timeoutBackoff : backoff).delay(after: failures, randomness: randomness)
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
