internal import Instrument
internal import InstrumentWatch

/// When sessions start: the places of streams in their periods, and the jitter of later starts.
struct StartPlan: Sendable {
    private let options: MonitorOptions
    private let origin: MonotonicInstant
    /// The number of streams that were added, by period, which spreads the starts evenly.
    private var placed: [Duration: Int] = [:]
    private var generator: SplitMix64

    /// - Parameter seed: chooses the jitter.
    init(_ options: MonitorOptions, from origin: MonotonicInstant, seed: UInt64) {
        (self.options, self.origin, generator) = (options, origin, SplitMix64(seed: seed))
    }

    /// Chooses the place of a stream in its period, and its first start.
    /// - Parameter continuousCount: the number of continuous streams that are added at once.
    mutating func place(
        _ schedule: WatchedStream.Schedule,
        continuousCount: Int,
        at now: MonotonicInstant
    ) -> (offset: Duration, start: MonotonicInstant) {
        switch schedule {
        case .sampled(let every, _):
            let offset = every * Self.evenShare(nextPlace(of: every))
            let first = origin.advanced(by: offset)
            return (offset, first >= now ? first : start(every, offset, after: now))
        case .continuous:
            let place = nextPlace(of: .zero)
            let ramp = min(options.longestRamp, options.startSpacing * max(1, continuousCount))
            return (.zero, now.advanced(by: place == 0 ? .zero : ramp * Self.evenShare(place)))
        }
    }

    private mutating func nextPlace(of period: Duration) -> Int {
        let place = placed[period, default: 0]
        placed[period] = place + 1
        return place
    }

    /// Shares of a period that are spread evenly, whatever their number: multiples of the golden ratio.
    private static func evenShare(_ place: Int) -> Double {
        let share = Double(place) * 0.618_033_988_749_894_9
        return share - share.rounded(.down)
    }

    /// The next start of a sampled stream.
    private func start(_ every: Duration, _ offset: Duration, after instant: MonotonicInstant) -> MonotonicInstant {
        let period = max(1, every.nanoseconds)
        let first = origin.nanoseconds.saturatingAdd(offset.nanoseconds)
        let elapsed = instant.nanoseconds.saturatingSubtract(first)
        let rounds = elapsed < 0 ? 0 : elapsed / period + 1
        return MonotonicInstant(nanoseconds: first.saturatingAdd(period.saturatingMultiply(rounds)))
    }

    /// Chooses the next start of a stream after a session, with a jitter of up to a twentieth of the period.
    /// - Parameters:
    ///   - longest: the longest delay until a stream in trouble is tried again.
    ///   - isTroubled: whether the stream is in trouble.
    mutating func start(
        of state: StreamState,
        after run: StreamRun,
        retryingWithin longest: Duration,
        isTroubled: Bool,
        at now: MonotonicInstant
    ) -> MonotonicInstant {
        var delay = Duration.zero
        let failures = max(state.failures, state.losses)
        if failures > 0 {
            let doubled = options.firstRetryDelay * (1 << min(failures - 1, 20))
            // Jitter, so that streams of a server that failed do not return at one instant.
            let jitter = Double.random(in: 0.8...1.2, using: &generator)
            delay = min(doubled * jitter, longest * min(jitter, 1))
        }
        // A session that was replaced has waited for long enough.
        if run.isReplaced { return max(now, run.begin.instant.advanced(by: .seconds(1))) }
        switch state.stream.schedule {
        case .sampled(let every, _):
            let start = start(every, state.offset, after: now.advanced(by: delay))
            let usual = start.advanced(by: every * Double.random(in: 0...0.05, using: &generator))
            return isTroubled ? min(usual, now.advanced(by: longest)) : usual
        case .continuous:
            // Media that end at once do not make a loop of requests.
            return max(now.advanced(by: delay), run.begin.instant.advanced(by: .seconds(1)))
        }
    }
}
