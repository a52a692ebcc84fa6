internal import Instrument

/// Tells since when the playhead moves or stands.
///
/// libVLC 3 has no event for either. `Playing` says that the input runs, seconds before the first picture perhaps; the
/// first picture is shown before the clock runs; `Buffering` 0 after a stall comes when data comes again, at the end of
/// the stall; and `TimeChanged` repeats one value for a second although pictures move. What tells is the counter of
/// displayed pictures beside each `TimeChanged`: their number divided by the frame rate is how long the playhead moved
/// between two of them. When an adaptive stream has no more data, the time runs on while the last pictures are
/// displayed, and then stands at their end.
struct VLCMotion: Sendable {
    enum Change: Hashable, Sendable {
        case moves(since: MonotonicInstant)
        case stands(since: MonotonicInstant)
    }

    private struct Sample {
        var instant: MonotonicInstant
        var progress: VLCProgress
        /// Whether the counters are of this instant: those that are read without a `TimeChanged` are older.
        var isTimed: Bool
    }

    /// An interval in which pictures were displayed, and the pictures of the interval before it.
    private struct Activity {
        /// The number of such intervals one after another, with this one.
        var count = 1
        var begin: MonotonicInstant
        var shown: Int
        var seconds: Double
        var earlierShown: Int
        var earlierBegin: MonotonicInstant

        /// Pictures per second.
        var rate: Double { Double(shown) / max(seconds, 0.001) }

        /// The instant at which the first picture moved: counted back from the end of the interval, or, where pictures
        /// moved before it, from its begin.
        func firstMotion(at framesPerSecond: Double) -> MonotonicInstant {
            func counted(_ pictures: Int) -> Double { Double(min(pictures, 1 << 20)) / framesPerSecond }
            let earlier = max(0, earlierBegin.duration(to: begin).seconds)
            // The refreshes of a long stand tell nothing: the motion began somewhere in the interval.
            if earlier < 2, counted(earlierShown) > 3 * earlier { return begin.advanced(by: .seconds(-earlier / 2)) }
            if earlierShown > 0 { return max(earlierBegin, begin.advanced(by: .seconds(-counted(earlierShown)))) }
            return begin.advanced(by: .seconds(max(0, seconds - counted(shown))))
        }
    }

    /// The part of the frame rate at which pictures move. A standing picture is refreshed 12 times a second.
    private static let movingShare = 0.7
    /// The shortest time for which counters and time have to stand.
    private static let leastStand = 0.45
    /// How long an input that sends no event is still playing what it has: the usual `network-caching` of a second, and
    /// what the time between two events leaves open.
    private static let silentReserve = Duration.milliseconds(1_350)
    /// How much libVLC's time may lag behind the playhead, in seconds.
    private static let timeTolerance = 1.6

    /// Whether the playhead moves.
    private(set) var isMoving = false
    /// Frames per second of the selected track, where it is known.
    var framesPerSecond: Double?
    /// Frames per second as they were displayed when motion began.
    private var measuredFramesPerSecond: Double?
    private(set) var rate = 1.0
    private(set) var isBuffered = false
    private var bufferedSince: MonotonicInstant?
    private var last: Sample?
    private var beforeLast: Sample?
    /// The last interval, if pictures were displayed in it.
    private var activity: Activity?
    /// The first sample of those with equal time and counters, and the sample before it.
    private var equal: (first: Sample, before: Sample?)?
    /// No stand begins earlier.
    private var movingSince: MonotonicInstant?
    /// The first sample of those between which no picture was displayed although pictures were decoded.
    private var frozen: Sample?
    /// The playhead in seconds at an instant.
    private var anchor: (seconds: Double, instant: MonotonicInstant)?

    /// The playhead in seconds; nil before the first time.
    func playhead(at now: MonotonicInstant) -> Double? {
        guard let anchor else { return nil }
        guard isMoving else { return anchor.seconds }
        // A clock without a recent report may have stopped.
        let elapsed = min(max(0, anchor.instant.duration(to: now).seconds), 2)
        return anchor.seconds + elapsed * rate
    }

    /// Takes a percentage of `Buffering`.
    mutating func buffering(isFull: Bool, at now: MonotonicInstant) {
        if isFull, !isBuffered { bufferedSince = now }
        isBuffered = isFull
        if !isFull { activity = nil }
    }

    /// The playhead stands from now on: paused, flushed by a seek, or waiting for data.
    mutating func halt(at now: MonotonicInstant) {
        anchor = playhead(at: now).map { ($0, now) }
        (isMoving, equal, frozen, activity) = (false, nil, nil, nil)
    }

    /// The playhead moves again after a pause; without data it will be found standing, no earlier than now.
    mutating func resume(at now: MonotonicInstant) {
        anchor = playhead(at: now).map { ($0, now) }
        (isMoving, movingSince, equal, frozen, activity) = (true, now, nil, nil, nil)
        // The counters of the pause say nothing of what follows.
        (last, beforeLast) = (nil, nil)
    }

    /// The playhead is somewhere else: the next time is taken as it is.
    mutating func jump() { anchor = nil }

    /// Takes the counters at the end of buffering.
    mutating func count(_ counters: VLCCounters, at now: MonotonicInstant) {
        let progress = VLCProgress(time: last?.progress.time ?? 0, counters: counters, rate: rate)
        keep(Sample(instant: now, progress: progress, isTimed: false))
    }

    /// Takes a time with its counters, and tells what changed.
    mutating func take(_ progress: VLCProgress, at now: MonotonicInstant) -> Change? {
        let sample = Sample(instant: now, progress: progress, isTimed: true)
        if progress.rate.isFinite, progress.rate > 0.01, progress.rate < 100 { rate = progress.rate }
        place(Double(progress.time) / 1_000, at: now)
        let change = isMoving ? stand(sample) : motion(sample)
        keep(sample)
        switch change {
        case .moves(let begin)?:
            (isMoving, movingSince, equal, frozen) = (true, begin, nil, nil)
        case .stands(let begin)?:
            anchor = (Double(progress.time) / 1_000, begin)
            (isMoving, equal, frozen, activity) = (false, nil, nil, nil)
        case nil: break
        }
        return change
    }

    /// The instant since which an input without events has nothing left to play; nil while it may have.
    mutating func silence(at now: MonotonicInstant) -> Change? {
        guard isMoving, let dry = runsDry, now >= dry else { return nil }
        halt(at: dry)
        return .stands(since: dry)
    }

    /// The latest instant at which an input that is not heard of can still play.
    var runsDry: MonotonicInstant? {
        let heard = [last?.instant, movingSince].compactMap { $0 }.max()
        return heard?.advanced(by: Self.silentReserve)
    }

    private mutating func keep(_ sample: Sample) { (beforeLast, last) = (last, sample) }

    private mutating func place(_ seconds: Double, at now: MonotonicInstant) {
        guard let expected = playhead(at: now) else {
            anchor = (seconds, now)
            return
        }
        let isLag = seconds < expected && expected - seconds < Self.timeTolerance * max(1, rate)
        anchor = (isLag ? expected : seconds, now)
    }

    // MARK: - From standing to moving

    private mutating func motion(_ sample: Sample) -> Change? {
        guard isBuffered, let buffered = bufferedSince, let last, last.isTimed, last.instant >= buffered,
            let now = sample.progress.counters, let before = last.progress.counters
        else { return nil }
        let elapsed = last.instant.duration(to: sample.instant).seconds
        guard elapsed > 0 else { return nil }
        guard now.displayed > 0 else {
            // Sound alone.
            guard now.playedAudio > before.playedAudio else { return nil }
            return .moves(since: buffered)
        }
        let shown = now.displayed - before.displayed
        // More pictures than there are: refreshes of a long stand, which libVLC counts when the decoder works again.
        let most = (framesPerSecond ?? measuredFramesPerSecond).map { 1.5 * $0 * rate * elapsed + 3 } ?? .infinity
        guard shown > 0, Double(shown) <= most else {
            activity = nil
            return clockRuns(sample, last) ? .moves(since: max(buffered, begin(of: last))) : nil
        }
        var current = Activity(
            begin: last.instant,
            shown: shown,
            seconds: elapsed,
            earlierShown: before.displayed - (beforeLast?.progress.counters?.displayed ?? 0),
            earlierBegin: beforeLast?.instant ?? .distantPast
        )
        defer { activity = current }
        if let framesPerSecond, current.rate >= Self.movingShare * framesPerSecond * rate {
            return .moves(since: max(buffered, current.firstMotion(at: framesPerSecond * rate)))
        }
        guard let activity else { return nil }
        // A frame rate that is not known is that of two intervals alike.
        if framesPerSecond == nil, abs(current.rate - activity.rate) <= 0.3 * activity.rate {
            measuredFramesPerSecond = current.rate / rate
            return .moves(since: max(buffered, activity.firstMotion(at: activity.rate)))
        }
        // The machine is too slow for the frame rate.
        current.count = activity.count + 1
        guard current.count >= 4 else { return nil }
        measuredFramesPerSecond = current.rate / rate
        return .moves(since: max(buffered, activity.begin))
    }

    /// Whether libVLC's time ran with the clock: over a slow link the decoder works, and its counters change, only now
    /// and then.
    private func clockRuns(_ sample: Sample, _ last: Sample) -> Bool {
        let elapsed = last.instant.duration(to: sample.instant).seconds * rate
        let moved = Double(sample.progress.time - last.progress.time) / 1_000
        return elapsed > 0.1 && abs(moved - elapsed) < 0.06
    }

    /// The begin of a motion that goes through a sample: in the middle of the interval that ends there, which holds the
    /// refreshes of a stand as well.
    private func begin(of sample: Sample) -> MonotonicInstant {
        guard let beforeLast else { return sample.instant }
        let interval = min(.milliseconds(500), beforeLast.instant.duration(to: sample.instant))
        return sample.instant.advanced(by: interval / -2)
    }

    // MARK: - From moving to standing

    private mutating func stand(_ sample: Sample) -> Change? { freeze(sample) ?? dryness(sample) }

    /// The decoder works, and its pictures are not displayed: after a seek of a paused player, libVLC 3 shows the first
    /// picture for a second more.
    private mutating func freeze(_ sample: Sample) -> Change? {
        guard let last, last.isTimed, let now = sample.progress.counters, let before = last.progress.counters,
            now.displayed > 0, now.displayed == before.displayed, now.decodedVideo > before.decodedVideo
        else {
            frozen = nil
            return nil
        }
        let first = frozen ?? last
        frozen = first
        guard first.instant.duration(to: sample.instant).seconds >= shortestStand else { return nil }
        guard let movingSince else { return .stands(since: first.instant) }
        // Nothing was displayed since a pause whose end was an interval before, or less.
        let isSincePause = movingSince.duration(to: first.instant) < .milliseconds(300)
        return .stands(since: isSincePause ? movingSince : max(first.instant, movingSince))
    }

    /// Time and counters stand: nothing is left to play.
    private mutating func dryness(_ sample: Sample) -> Change? {
        guard let last, last.isTimed, last.progress.time == sample.progress.time,
            last.progress.counters == sample.progress.counters
        else {
            equal = nil
            return nil
        }
        let run = equal ?? (last, beforeLast)
        equal = run
        let stood = run.first.instant.duration(to: sample.instant).seconds
        guard stood >= shortestStand else { return nil }
        return .stands(since: max(begin(of: run.first, after: run.before), movingSince ?? .distantPast))
    }

    /// How long counters have to stand: two frames and a half, and longer than the reports are apart.
    private var shortestStand: Double {
        max(Self.leastStand, 2.5 / max(0.1, (framesPerSecond ?? measuredFramesPerSecond ?? 25) * rate))
    }

    /// The instant at which a time was reached that stands since: counted from the time before, where it ran on to it.
    private func begin(of first: Sample, after before: Sample?) -> MonotonicInstant {
        // Nothing has moved since a pause.
        guard let before, before.isTimed else { return movingSince ?? first.instant }
        let moved = Double(first.progress.time - before.progress.time) / 1_000 / rate
        let elapsed = before.instant.duration(to: first.instant).seconds
        guard moved > 0, moved <= elapsed + 0.05 else { return first.instant }
        return min(first.instant, before.instant.advanced(by: .seconds(moved)))
    }
}

extension MonotonicInstant {
    fileprivate static let distantPast = MonotonicInstant(nanoseconds: .min)
}
