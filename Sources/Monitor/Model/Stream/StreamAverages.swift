internal import Instrument

/// What a stream is like at the moment of a look.
struct StreamSample: Sendable {
    /// The figures of the session that runs, without the latest time; nil without a session.
    var session: SessionFigures?
    var isPlaying: Bool
    /// Whether a viewer would see a picture; nil before the first result.
    var isUp: Bool?
    /// Whether the picture stands or has a fault.
    var isImpaired: Bool
    var bitrate: Int?
    var latency: Duration?
    var buffered: Duration?
    var playlistAge: Duration?
    var loudness: Double?
}

/// What has passed between two looks at a stream.
struct StreamStep: Sendable {
    /// What the session has played and stalled since, in milliseconds; nil without a session.
    var played: (playing: Int, rebuffering: Int)?
    /// Milliseconds that the session has played in all.
    var sessionPlaying = 0
    var elapsed: Double
}

/// The running sums of a stream, and those at the starts of windows, from which the values of metrics follow.
struct StreamAverages: Sendable {
    private(set) var sums = WindowSums()
    private var windows: [WindowHistory] = []
    /// What the sums have of the session that runs.
    private var counted: (instant: MonotonicInstant, figures: SessionFigures)?
    private var latest: MonotonicInstant?

    /// Keeps the sums at the starts of these windows.
    mutating func configure(_ lengths: [Duration]) {
        let known = Dictionary(windows.map { ($0.window, $0) }) { first, _ in first }
        windows = lengths.map { known[$0] ?? WindowHistory(window: $0, baseline: sums) }
    }

    /// Takes note that a session begins, or is over.
    mutating func noteSession() { counted = nil }

    mutating func countError() { sums.errors += 1 }

    mutating func count(requests: Int, failed: Int, time: Double = 0) {
        sums.requests += Double(requests)
        sums.failedRequests += Double(failed)
        sums.requestTime += time
    }

    mutating func count(startup seconds: Double) {
        sums.startups += 1
        sums.startupTime += seconds
    }

    /// Adds what has passed since the latest look.
    mutating func add(_ sample: StreamSample, at now: MonotonicInstant) -> StreamStep {
        var step = StreamStep(elapsed: latest.map { $0.duration(to: now).seconds } ?? 0)
        latest = now
        if var session = sample.session {
            session.raise(to: counted?.figures)
            let elapsed = counted?.instant.duration(to: now) ?? .zero
            step.played = add(session, sample, elapsed: elapsed.seconds)
            step.sessionPlaying = session.playing
            counted = (now, session)
        }
        if let up = sample.isUp {
            sums.up.0 += up ? step.elapsed : 0
            sums.up.1 += step.elapsed
        }
        if let age = sample.playlistAge {
            sums.age.0 += age.seconds * step.elapsed
            sums.age.1 += step.elapsed
        }
        if let loudness = sample.loudness {
            sums.loudness.0 += loudness * step.elapsed
            sums.loudness.1 += step.elapsed
        }
        for index in windows.indices { windows[index].record(sums, at: now) }
        return step
    }

    private mutating func add(
        _ session: SessionFigures,
        _ sample: StreamSample,
        elapsed: Double
    ) -> (playing: Int, rebuffering: Int) {
        let last = counted?.figures ?? SessionFigures()
        let (playing, rebuffering) = (session.playing - last.playing, session.rebuffering - last.rebuffering)
        sums.playing += Double(playing) / 1000
        sums.rebuffering += Double(rebuffering) / 1000
        sums.rebuffers += Double(session.rebuffers - last.rebuffers)
        if let bitrate = sample.bitrate, sample.isPlaying {
            sums.bitrate.0 += Double(bitrate) * elapsed
            sums.bitrate.1 += elapsed
        }
        if let latency = sample.latency, sample.isPlaying {
            sums.latency.0 += latency.seconds * elapsed
            sums.latency.1 += elapsed
        }
        if let buffered = sample.buffered {
            sums.buffer.0 += buffered.seconds * elapsed
            sums.buffer.1 += elapsed
        }
        return (playing, rebuffering)
    }

    /// The sums at the start of a window that ends now; nil for another window than those of the configuration.
    func sums(atStartOf window: Duration, at now: MonotonicInstant) -> WindowSums? {
        windows.first { $0.window == window }?.start(at: now)
    }
}

extension SessionFigures {
    /// Replaces the sums that are smaller than those of an earlier look, so that no time counts twice.
    fileprivate mutating func raise(to earlier: SessionFigures?) {
        guard let earlier else { return }
        (playing, rebuffering) = (max(playing, earlier.playing), max(rebuffering, earlier.rebuffering))
        rebuffers = max(rebuffers, earlier.rebuffers)
    }
}

/// Cumulative sums from which the value of a metric over a window follows.
struct WindowSums: Hashable, Sendable {
    var playing = 0.0
    var rebuffering = 0.0
    var rebuffers = 0.0
    var errors = 0.0
    var requests = 0.0
    var failedRequests = 0.0
    var requestTime = 0.0
    var startups = 0.0
    var startupTime = 0.0
    /// Values times the seconds for which they held, and those seconds.
    var up = (0.0, 0.0)
    var bitrate = (0.0, 0.0)
    var latency = (0.0, 0.0)
    var buffer = (0.0, 0.0)
    var age = (0.0, 0.0)
    var loudness = (0.0, 0.0)

    static func == (left: WindowSums, right: WindowSums) -> Bool { left.values == right.values }
    func hash(into hasher: inout Hasher) { hasher.combine(values) }
    private var values: [Double] {
        [
            playing, rebuffering, rebuffers, errors, requests, failedRequests, requestTime, startups, startupTime, up.0,
            up.1, bitrate.0, bitrate.1, latency.0, latency.1, buffer.0, buffer.1, age.0, age.1, loudness.0, loudness.1,
        ]
    }
}

/// The sums at some thirty instants of a window.
struct WindowHistory: Sendable {
    static let mostPoints = 32
    let window: Duration
    private var points: [(instant: MonotonicInstant, sums: WindowSums)] = []

    /// The sums when the history began, which the window starts with until it is full.
    private let baseline: WindowSums

    init(window: Duration, baseline: WindowSums) { (self.window, self.baseline) = (window, baseline) }

    mutating func record(_ sums: WindowSums, at now: MonotonicInstant) {
        let step = window / 30
        if let last = points.last, last.instant.duration(to: now) < step { return }
        points.append((now, sums))
        // One point before the window stays, as its start.
        while points.count > 2, points[1].instant.duration(to: now) >= window { points.removeFirst() }
        if points.count > Self.mostPoints { points.removeFirst() }
    }

    /// The sums at the start of the window that ends now.
    func start(at now: MonotonicInstant) -> WindowSums {
        points.last { $0.instant.duration(to: now) >= window }?.sums ?? baseline
    }
}
