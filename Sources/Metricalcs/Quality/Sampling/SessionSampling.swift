internal import Instrument

/// Which sessions are recorded: one of N, chosen by a hash of the session's identifier.
///
/// The choice is deterministic: a session is recorded whole or not at all, on every device and at every replay. A
/// session that is recorded at one of N is also recorded at one of any smaller number. Each recorded session stands for
/// N sessions: its weight is N, so that sums stay unbiased.
///
/// The hash is the first eight bytes, big-endian, of SHA-256 of the identifier's UTF-8; the session is recorded if hash
/// · N < 2⁶⁴.
public struct SessionSampling: Hashable, Sendable {
    /// N: 1 records every session, 0 records none.
    public let oneIn: Int

    /// Creates a sampling of one in `count` sessions; a negative number counts as 0.
    public init(oneIn count: Int) { oneIn = max(0, count) }

    /// Every session.
    public static let all = SessionSampling(oneIn: 1)
    /// No session.
    public static let none = SessionSampling(oneIn: 0)

    /// The weight of a session; nil if the session is not recorded.
    ///
    /// - Parameter identifier: identifies the session: its `playbackId`.
    package func weight(of identifier: String) -> Int? {
        if oneIn <= 1 { return oneIn == 1 ? 1 : nil }
        let hash = SHA256.digest(of: identifier.utf8).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return hash.multipliedFullWidth(by: UInt64(oneIn)).high == 0 ? oneIn : nil
    }
}

/// The sampling in force, shared by the hub that applies it and the code that changes it. Safe to use from any thread.
///
/// A change applies to sessions that begin afterwards: a running session remains recorded, or not.
public final class SamplingSettings: Sendable {
    private let sampling: Lock<SessionSampling>

    /// Creates settings.
    public init(_ sampling: SessionSampling = .all) { self.sampling = Lock(sampling) }

    /// The sampling of sessions that begin now.
    public var current: SessionSampling {
        get { sampling.withLock { $0 } }
        set { sampling.withLock { $0 = newValue } }
    }
}
