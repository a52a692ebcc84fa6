package import Instrument

/// A playback's start and interruptions as a tracker reported them, beside those that an eye saw. Times count from the
/// begin of the playback.
package struct MotionComparison: Hashable, Sendable {
    /// What interrupts a playback: the first of what the tracker reported.
    package enum Kind: String, Hashable, Sendable { case stall, seek, pause, end, error }

    /// A time without motion; without an end, the playback does not continue.
    package struct Span: Hashable, Sendable {
        package var begin: Duration
        package var end: Duration?

        package init(begin: Duration, end: Duration? = nil) { (self.begin, self.end) = (begin, end) }

        package var length: Duration? { end.map { $0 - begin } }

        /// The time that both have in common; below zero, the time between them.
        fileprivate func overlap(_ other: Span?) -> Duration {
            guard let other else { return .seconds(Int64.min) }
            let ends = [end, other.end].compactMap { $0 }
            return (ends.min() ?? max(begin, other.begin) + .seconds(86_400)) - max(begin, other.begin)
        }
    }

    /// A time without motion by the tracker and by the eye; nil where one of them has none.
    package struct Interruption: Hashable, Sendable {
        /// Nil for one that the tracker did not report.
        package var kind: Kind?
        package var tracked: Span?
        package var seen: Span?

        package init(_ kind: Kind?, tracked: Span?, seen: Span?) {
            (self.kind, self.tracked, self.seen) = (kind, tracked, seen)
        }

        /// The tracker's error at the begin.
        package var beginError: Duration? { MotionComparison.error(tracked?.begin, seen?.begin) }
        /// The tracker's error at the end.
        package var endError: Duration? { MotionComparison.error(tracked?.end, seen?.end) }
        /// Whether both say that the playback continues, or both that it does not.
        package var isEndKnown: Bool { (tracked?.end == nil) == (seen?.end == nil) }
    }

    /// The instant since which pictures move; nil where nothing was reported or seen.
    package var trackedStart: Duration?
    package var seenStart: Duration?
    /// What interrupts the playback, in order.
    package var interruptions: [Interruption]

    /// The tracker's error at the start.
    package var startError: Duration? { Self.error(trackedStart, seenStart) }

    package init(trackedStart: Duration?, seenStart: Duration?, interruptions: [Interruption]) {
        (self.trackedStart, self.seenStart, self.interruptions) = (trackedStart, seenStart, interruptions)
    }

    /// Compares what was reported and seen between two instants.
    ///
    /// An interruption that the tracker alone reports, and that is shorter than the eye notices, is left out.
    package init(signals: [PlayerSignal], eye: PlaybackEye, since begin: MonotonicInstant, until end: MonotonicInstant)
    {
        let noticed = eye.frameDuration + eye.patience
        let (tracked, seen) = (
            Self.tracked(signals, since: begin), Self.seen(eye, since: begin, until: end, noticing: noticed)
        )
        (trackedStart, seenStart) = (tracked.start, seen.start)
        var (reported, gaps) = (tracked.gaps[...], seen.gaps[...])
        interruptions = []
        while !reported.isEmpty || !gaps.isEmpty {
            let (report, gap) = (reported.first, gaps.first)
            // Each is the other's, unless one of them has more in common with the next one.
            let common = report?.span.overlap(gap) ?? .seconds(-1)
            let isPair =
                common > .milliseconds(-250)
                && gap.map { common >= $0.overlap(reported.dropFirst().first?.span) } ?? false
                && report.map { common >= $0.span.overlap(gaps.dropFirst().first) } ?? false
            let takesReport =
                report.map { report in isPair || gap.map { report.span.begin <= $0.begin } ?? true } ?? false
            let takesGap = isPair || !takesReport
            interruptions.append(
                Interruption(
                    takesReport ? report?.kind : nil,
                    tracked: takesReport ? report?.span : nil,
                    seen: takesGap ? gap : nil
                )
            )
            if takesReport { reported.removeFirst() }
            if takesGap { gaps.removeFirst() }
        }
        interruptions.removeAll { interruption in
            interruption.seen == nil && (interruption.tracked?.length).map { $0 <= noticed } ?? false
        }
    }

    fileprivate static func error(_ tracked: Duration?, _ seen: Duration?) -> Duration? {
        guard let tracked, let seen else { return nil }
        return tracked - seen
    }

    /// The start, and the times between the begin of an interruption and the end of the last of those that follow one
    /// another.
    private static func tracked(
        _ signals: [PlayerSignal],
        since origin: MonotonicInstant
    ) -> (start: Duration?, gaps: [(kind: Kind, span: Span)]) {
        var (start, gaps): (Duration?, [(kind: Kind, span: Span)]) = (nil, [])
        var (blocks, isPlaying) = (Set<Action>(), false)
        for signal in signals {
            guard let instant = signal.instant else { continue }
            let (wasMoving, time) = (isPlaying && blocks.isEmpty, origin.duration(to: instant))
            let kind: Kind
            switch signal.action {
            case .start: (isPlaying, kind) = (true, .end)
            case .bufferBegin: (_, kind) = (blocks.insert(.bufferBegin), .stall)
            case .seekBegin: (_, kind) = (blocks.insert(.seekBegin), .seek)
            case .pauseBegin: (_, kind) = (blocks.insert(.pauseBegin), .pause)
            case .bufferFinish: (_, kind) = (blocks.remove(.bufferBegin), .stall)
            case .seekFinish: (_, kind) = (blocks.remove(.seekBegin), .seek)
            case .pauseFinish: (_, kind) = (blocks.remove(.pauseBegin), .pause)
            case .end, .stop: (isPlaying, kind) = (false, .end)
            case .error: (isPlaying, kind) = (false, .error)
            default: continue
            }
            let isMoving = isPlaying && blocks.isEmpty
            if isMoving, !wasMoving {
                if start == nil { start = time } else { gaps[gaps.count - 1].span.end = time }
            }
            guard wasMoving, !isMoving else { continue }
            // Between two blocks that follow one another is no motion.
            if let last = gaps.last?.span.end, time - last <= .milliseconds(20) {
                gaps[gaps.count - 1].span.end = nil
            } else {
                gaps.append((kind, Span(begin: time)))
            }
        }
        return (start, gaps)
    }

    /// The start, and the times between two motions, and after the last one.
    private static func seen(
        _ eye: PlaybackEye,
        since origin: MonotonicInstant,
        until end: MonotonicInstant,
        noticing noticed: Duration
    ) -> (start: Duration?, gaps: [Span]) {
        let motions = eye.motions
        guard let first = motions.first, let last = motions.last else { return (nil, []) }
        var gaps = zip(motions, motions.dropFirst()).map { earlier, later in
            Span(begin: origin.duration(to: earlier.end), end: origin.duration(to: later.begin))
        }
        if last.end.duration(to: end) > noticed { gaps.append(Span(begin: origin.duration(to: last.end))) }
        return (origin.duration(to: first.begin), gaps)
    }
}
