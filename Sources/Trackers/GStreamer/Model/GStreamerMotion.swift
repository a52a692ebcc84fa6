internal import Instrument

/// Tells since when the playhead moves or stands, from the buffers that arrive at the sinks.
///
/// A sink says for each buffer when it will be shown: its running time, the base time and the latency beside the
/// pipeline's clock. So motion is known to the frame: the first picture after a stand moves when its successor is due,
/// and a picture that has no successor in time stands since its own end. The sink of the picture tells; without a
/// picture that of the sound.
struct GStreamerMotion: Sendable {
    enum Change: Hashable, Sendable {
        case moves(since: MonotonicInstant)
        case stands(since: MonotonicInstant)
    }

    private enum Phase: Hashable {
        /// Paused, flushed or not begun.
        case held
        /// The clock may run; buffers are expected from this instant on.
        case awaiting(since: MonotonicInstant)
        /// As `awaiting`, and the stand was reported.
        case standing(since: MonotonicInstant)
        /// One buffer came; its successor tells whether pictures move.
        case begun(since: MonotonicInstant)
        case moving(since: MonotonicInstant)
    }

    /// A buffer that is shown.
    private struct Shown {
        var position: Double?
        var due: MonotonicInstant
        var end: MonotonicInstant
        var isDurationKnown: Bool
        var isPreroll: Bool
        var isSynchronized: Bool
    }

    /// How late a buffer may be without being a stand.
    private static let patience = Duration.milliseconds(250)
    /// The patience where buffers have no duration: the pictures of a slide show are far apart.
    private static let widePatience = Duration.seconds(1)

    private var phase = Phase.held
    private var rate = 1.0
    private var last: Shown?
    /// Since when pictures move although the clock is not known to run: sinks play before the pipeline says so.
    private var early: MonotonicInstant?
    /// The media of each sink, by its number.
    private var sinks: [UInt64: GStreamerEvent.Media] = [:]
    /// The sink whose buffers count.
    private var main: UInt64?
    private var mainMedia: GStreamerEvent.Media?
    private(set) var hasSink = false

    /// Whether the clock may run.
    var isRunning: Bool { phase != .held }
    var isMoving: Bool { if case .moving = phase { true } else { false } }
    /// Whether this is the sink whose buffers count.
    func isMain(_ sink: UInt64) -> Bool { main == sink }

    /// The playhead in seconds at an instant; nil before the first buffer.
    func playhead(at now: MonotonicInstant) -> Double? {
        guard let last, let position = last.position else { return nil }
        switch phase {
        case .moving(let since), .begun(let since):
            let seen = min(max(now, since), last.end)
            return max(0, position + last.due.duration(to: seen).seconds * rate)
        case .held, .awaiting, .standing:
            if last.isPreroll { return position }
            return max(0, position + last.due.duration(to: min(now, last.end)).seconds * rate)
        }
    }

    /// A sink is of this media from now on.
    mutating func takeSink(_ sink: UInt64, _ media: GStreamerEvent.Media) {
        sinks[sink] = media
        chooseMain()
    }

    mutating func removeSink(_ sink: UInt64) {
        sinks[sink] = nil
        chooseMain()
    }

    private mutating func chooseMain() {
        func first(_ media: GStreamerEvent.Media) -> UInt64? {
            if let main, sinks[main] == media { return main }
            return sinks.filter { $0.value == media }.keys.min()
        }
        let next = first(.video) ?? first(.audio) ?? first(.other)
        hasSink = hasSink || next != nil
        mainMedia = next.flatMap { sinks[$0] }
        guard next != main else { return }
        main = next
        // The buffers of another sink have other times; the picture that stands is still there.
        if last?.isPreroll == false { last = nil }
    }

    /// The clock runs from now on.
    mutating func run(at now: MonotonicInstant) {
        guard case .held = phase else { return }
        phase = early.map { .begun(since: $0) } ?? .awaiting(since: now)
        early = nil
    }

    /// The clock stands from now on.
    mutating func halt(at now: MonotonicInstant) {
        if let position = playhead(at: now), let last {
            self.last = Shown(
                position: position,
                due: now,
                end: now,
                isDurationKnown: last.isDurationKnown,
                isPreroll: true,
                isSynchronized: last.isSynchronized
            )
        }
        (phase, early) = (.held, nil)
    }

    /// The sinks are flushed: what is shown stands.
    mutating func flush(at now: MonotonicInstant) {
        let isRunning = phase != .held
        halt(at: now)
        if isRunning { phase = .awaiting(since: now) }
    }

    /// Forgets the media.
    mutating func reset() { (phase, last, early, rate) = (.held, nil, nil, 1) }

    /// Takes a buffer that arrives at `now`, and tells what changed.
    mutating func take(_ buffer: GStreamerBuffer, at now: MonotonicInstant) -> Change? {
        if buffer.sink != main || buffer.media != mainMedia {
            if sinks[buffer.sink] != buffer.media { takeSink(buffer.sink, buffer.media) }
        }
        // A picture that is dropped is there, and the playhead moves on; it begins no motion.
        guard buffer.sink == main, isMoving || !buffer.isDropped else { return nil }
        rate = buffer.rate
        let due = now.advanced(by: .nanoseconds(max(0, buffer.ahead)))
        let shown = Shown(
            position: buffer.position.map { Double($0) / 1e9 },
            due: due,
            end: due.advanced(by: duration(of: buffer)),
            isDurationKnown: buffer.duration.map { $0 > 0 } ?? false,
            isPreroll: buffer.isPreroll,
            isSynchronized: buffer.isSynchronized
        )
        defer { last = shown }
        if buffer.isPreroll { return nil }
        switch phase {
        case .held:
            if buffer.ahead >= 0 { early = early ?? begin(of: shown, isLate: false) }
            return nil
        case .awaiting(let since), .standing(let since):
            phase = .begun(since: max(since, begin(of: shown, isLate: buffer.ahead < 0)))
            // A picture that stood before, or sound that is played with its first buffer.
            return last?.isPreroll == true || buffer.media != .video ? confirm() : nil
        case .begun(let since):
            if let last, isLate(shown, after: last) {
                phase = .begun(since: due)
                return nil
            }
            phase = .begun(since: since)
            return confirm()
        case .moving:
            // A buffer that comes in time follows a picture that is meant to stand so long.
            guard let last, isLate(shown, after: last), buffer.ahead < 0 else { return nil }
            phase = .begun(since: due)
            return .stands(since: last.end)
        }
    }

    private mutating func confirm() -> Change? {
        guard case .begun(let since) = phase else { return nil }
        phase = .moving(since: since)
        return .moves(since: since)
    }

    /// What a playhead does that is not heard of: it stands since the end of what was shown.
    mutating func silence(at now: MonotonicInstant) -> Change? {
        guard let dry = runsDry, now >= dry else { return nil }
        let since: MonotonicInstant
        switch phase {
        case .held, .standing: return nil
        case .awaiting(let begin), .begun(let begin): since = begin
        case .moving: since = last?.end ?? now
        }
        phase = .standing(since: since)
        return .stands(since: since)
    }

    /// The instant from which on a playhead that is not heard of stands; nil while nothing is expected.
    var runsDry: MonotonicInstant? {
        switch phase {
        case .held, .standing: nil
        case .awaiting(let since): since.advanced(by: Self.patience)
        case .begun, .moving:
            last.flatMap { $0.isSynchronized ? $0.end.advanced(by: Self.patience(after: $0)) : nil }
        }
    }

    private static func patience(after shown: Shown) -> Duration { shown.isDurationKnown ? patience : widePatience }

    private func isLate(_ next: Shown, after last: Shown) -> Bool {
        last.isSynchronized && next.due > last.end.advanced(by: Self.patience(after: last))
    }

    private func duration(of buffer: GStreamerBuffer) -> Duration {
        let nanoseconds = buffer.duration.flatMap { $0 > 0 ? Double($0) : nil } ?? 40e6
        return .nanoseconds(Int64(min(nanoseconds / max(0.001, abs(buffer.rate)), 3e18)))
    }

    /// The instant since which pictures move: when the picture that stands was due, counted back from its successor.
    private func begin(of shown: Shown, isLate: Bool) -> MonotonicInstant {
        guard !isLate, let last, let before = last.position, let position = shown.position else { return shown.due }
        let distance = (position - before) / (rate == 0 ? 1 : rate)
        return distance > 0 && distance < 0.5 ? shown.due.advanced(by: .seconds(-distance)) : shown.due
    }
}
