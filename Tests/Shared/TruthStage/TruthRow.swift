package import InstrumentFrameCode

/// What one playback showed: by the tracker, by the eye, by the origin's log, and by the probe beside it.
package struct TruthRow: Sendable {
    /// What a player's library cannot tell, with the largest errors that follow.
    package struct Limit: Sendable {
        /// The schedules to which it applies; empty for all.
        package var schedules: Set<String>
        package var packagings: Set<TruthSchedule.Packaging>
        /// Milliseconds; nil where nothing is judged.
        package var start: Int
        package var begin: Int?
        package var end: Int?
        package var reason: String

        package init(
            _ reason: String,
            of schedules: Set<String> = [],
            in packagings: Set<TruthSchedule.Packaging> = [],
            start: Int = TruthRow.startLimit,
            begin: Int? = TruthRow.limit,
            end: Int? = TruthRow.limit
        ) {
            (self.reason, self.schedules, self.packagings) = (reason, schedules, packagings)
            (self.start, self.begin, self.end) = (start, begin, end)
        }

        fileprivate func applies(to row: TruthRow) -> Bool {
            (schedules.isEmpty || schedules.contains(row.schedule))
                && (packagings.isEmpty || packagings.contains(row.packaging))
        }
    }

    package enum Verdict: Hashable, Sendable {
        case within
        /// Outside, and the library cannot tell better: the reason.
        case known(String)
        /// What is outside.
        case outside([String])
        /// Outside on a machine, or with an eye, that was late by so much.
        case notJudged(Duration)
    }

    /// The probe's start since its request, and the lengths of its stalls; nil for one that does not end.
    package struct Probed: Hashable, Sendable {
        package var start: Duration?
        package var stalls: [Duration?]

        package init(start: Duration?, stalls: [Duration?]) { (self.start, self.stalls) = (start, stalls) }
    }

    /// The largest error of a start, and of both ends of what interrupts a playback, in milliseconds.
    package static let (startLimit, limit) = (50, 100)

    package var player: String
    package var schedule: String
    package var packaging: TruthSchedule.Packaging
    package var motion: MotionComparison
    /// The pauses and seeks that the app asked for, and the tracker's instants after them; nil for one that is not
    /// reported.
    package var asked: [(kind: MotionComparison.Kind, delay: Duration?)] = []
    /// The requests that the tracker reported; nil for a tracker that sees none.
    package var reportedRequests: Int?
    /// The requests that the origin has answered in full.
    package var loggedRequests = 0
    package var probed: Probed?
    /// The longest time by which the machine or the eye was late.
    package var lateness = Duration.zero
    package var verdict = Verdict.within

    package init(
        player: String,
        schedule: String,
        packaging: TruthSchedule.Packaging,
        motion: MotionComparison
    ) {
        (self.player, self.schedule, self.packaging, self.motion) = (player, schedule, packaging, motion)
    }

    package var stalls: [MotionComparison.Interruption] { motion.interruptions.filter { $0.kind ?? .stall == .stall } }
    package var others: [MotionComparison.Interruption] { motion.interruptions.filter { $0.kind ?? .stall != .stall } }

    /// Sets the verdict.
    package mutating func judge(_ limits: [Limit]) {
        let found = excesses(start: Self.startLimit, begin: Self.limit, end: Self.limit)
        let known = limits.first { limit in
            limit.applies(to: self) && excesses(start: limit.start, begin: limit.begin, end: limit.end).isEmpty
        }
        if found.isEmpty {
            verdict = .within
        } else if let known {
            verdict = .known(known.reason)
        } else {
            verdict = lateness > .milliseconds(Self.limit) ? .notJudged(lateness) : .outside(found)
        }
    }

    /// What is outside of limits, in words.
    private func excesses(start: Int, begin: Int?, end: Int?) -> [String] {
        var found: [String] = []
        if Self.exceeds(motion.startError, start) { found.append("start") }
        for interruption in motion.interruptions {
            let name = interruption.kind?.rawValue ?? "stall"
            guard let begin, let end else { continue }
            if interruption.tracked == nil {
                found.append("\(name) not reported")
            } else if interruption.seen == nil {
                found.append("\(name) not seen")
            } else {
                if Self.exceeds(interruption.beginError, begin) { found.append("begin of a \(name)") }
                let isOpen = interruption.tracked?.end == nil && interruption.seen?.end == nil
                if !isOpen, Self.exceeds(interruption.endError, end) { found.append("end of a \(name)") }
            }
        }
        found += asked.filter { $0.delay == nil }.map { "\($0.kind.rawValue) not reported" }
        if let reportedRequests, abs(reportedRequests - loggedRequests) > 1 { found.append("requests") }
        return found.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    private static func exceeds(_ error: Duration?, _ limit: Int) -> Bool {
        error.map { abs($0 / .milliseconds(1)) > Double(limit) + 0.5 } ?? true
    }
}
