package import Instrument

/// The times of motion as a tracker reported them, beside those that an eye saw.
package struct MotionComparison: Sendable {
    /// A time of motion; nil where nothing was reported or seen.
    package struct Row: Sendable {
        package var trackedBegin: Duration?
        package var trackedEnd: Duration?
        package var seenBegin: Duration?
        package var seenEnd: Duration?

        /// The tracker's error at the begin.
        package var beginError: Duration? { error(trackedBegin, seenBegin) }
        /// The tracker's error at the end.
        package var endError: Duration? { error(trackedEnd, seenEnd) }

        private func error(_ tracked: Duration?, _ seen: Duration?) -> Duration? {
            guard let tracked, let seen else { return nil }
            return tracked - seen
        }
    }

    package var rows: [Row]

    /// Compares from `origin` on.
    package init(signals: [PlayerSignal], eye: PlaybackEye, since origin: MonotonicInstant) {
        let (tracked, seen) = (Self.motions(in: signals), eye.motions)
        rows = (0..<max(tracked.count, seen.count)).map { number in
            var row = Row()
            if number < tracked.count {
                row.trackedBegin = origin.duration(to: tracked[number].begin)
                row.trackedEnd = tracked[number].end.map { origin.duration(to: $0) }
            }
            if number < seen.count {
                row.seenBegin = origin.duration(to: seen[number].begin)
                row.seenEnd = origin.duration(to: seen[number].end)
            }
            return row
        }
    }

    /// The times between a start or the end of an interruption, and the next interruption or end.
    private static func motions(
        in signals: [PlayerSignal]
    ) -> [(begin: MonotonicInstant, end: MonotonicInstant?)] {
        var motions: [(begin: MonotonicInstant, end: MonotonicInstant?)] = []
        var (blocks, isPlaying) = (Set<Action>(), false)
        for signal in signals {
            guard let instant = signal.instant else { continue }
            let wasMoving = isPlaying && blocks.isEmpty
            switch signal.action {
            case .start: isPlaying = true
            case .bufferBegin, .seekBegin, .pauseBegin: blocks.insert(signal.action)
            case .bufferFinish: blocks.remove(.bufferBegin)
            case .seekFinish: blocks.remove(.seekBegin)
            case .pauseFinish: blocks.remove(.pauseBegin)
            case .end, .stop, .error: isPlaying = false
            default: continue
            }
            let isMoving = isPlaying && blocks.isEmpty
            if isMoving, !wasMoving { motions.append((instant, nil)) }
            if !isMoving, wasMoving, let last = motions.indices.last { motions[last].end = instant }
        }
        // Between two blocks that follow one another is no motion.
        return motions.filter { motion in motion.end.map { motion.begin.duration(to: $0) > .milliseconds(20) } ?? true }
    }
}
