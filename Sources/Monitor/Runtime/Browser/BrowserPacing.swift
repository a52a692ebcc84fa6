internal import Instrument

/// When a browser that has gone may be started again: after 1 s, 2 s, 4 s … up to a minute; a browser that lived for
/// ten minutes begins with 1 s.
struct BrowserPacing: Sendable {
    private static let longestDelay = 60
    private static let recovery = Duration.seconds(600)

    private var failures = 0
    private var begin: MonotonicInstant?
    private var notBefore: MonotonicInstant?
    /// Why the latest browser ended.
    private(set) var reason = ""

    /// How long a start has to wait; nil if the browser may be started now.
    func wait(at now: MonotonicInstant) -> Duration? {
        notBefore.flatMap { $0 > now ? now.duration(to: $0) : nil }
    }

    mutating func start(at now: MonotonicInstant) { begin = now }

    /// Takes the end of a browser that nobody has ended, or its failure to start.
    mutating func fail(_ reason: String, at now: MonotonicInstant) {
        if let begin, begin.duration(to: now) >= Self.recovery { failures = 0 }
        failures += 1
        let delay = min(Self.longestDelay, 1 << min(failures - 1, 10))
        (self.reason, begin, notBefore) = (reason, nil, now.advanced(by: .seconds(delay)))
    }
}
