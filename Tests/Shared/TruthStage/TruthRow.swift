package import InstrumentFrameCode

/// What one playback showed: by the tracker, by the eye, by the origin's log, and by the probe beside it.
package struct TruthRow: Sendable {
    /// What may be wrong with a row.
    package enum Aspect: Hashable, Sendable {
        case start
        /// The begin or the end of an interruption.
        case begin, end
        /// The delay of a report of a pause or a seek within another interruption.
        case report
        /// An interruption that the tracker or the eye has not.
        case missing
        case requests
    }

    /// What a player's library cannot tell, with the largest errors that follow.
    package struct Limit: Sendable {
        package var reason: String
        /// The schedules to which it applies; empty for all.
        package var schedules: Set<String>
        package var packagings: Set<TruthSchedule.Packaging>
        /// In milliseconds.
        package var errors: [Aspect: Int]

        package init(
            _ reason: String,
            of schedules: Set<String> = [],
            in packagings: Set<TruthSchedule.Packaging> = [],
            _ errors: [Aspect: Int]
        ) {
            (self.reason, self.schedules, self.packagings, self.errors) = (reason, schedules, packagings, errors)
        }

        fileprivate func covers(_ excess: Excess, of row: TruthRow) -> Bool {
            (schedules.isEmpty || schedules.contains(row.schedule))
                && (packagings.isEmpty || packagings.contains(row.packaging))
                && errors[excess.aspect].map { excess.milliseconds <= $0 } ?? false
        }
    }

    fileprivate struct Excess {
        var aspect: Aspect
        var words: String
        var milliseconds = 0
    }

    package enum Verdict: Hashable, Sendable {
        case within
        /// Outside, and the library cannot tell better: the reasons.
        case known([String])
        /// The errors beyond their limits.
        case outside([String])
        /// Outside on a machine, or with an eye, that was late by so much.
        case notJudged(Duration)
    }

    /// The probe's start since its request, and the lengths of its stalls; nil for one that does not end.
    package struct Probed: Hashable, Sendable {
        package var start: Duration?
        package var stalls: [Duration?]

        package var hasFailed: Bool

        package init(start: Duration?, stalls: [Duration?], hasFailed: Bool = false) {
            (self.start, self.stalls, self.hasFailed) = (start, stalls, hasFailed)
        }
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

    /// The pauses and seeks that the app asked for within another interruption, where the eye cannot see them.
    package var hidden: [(kind: MotionComparison.Kind, delay: Duration?)] {
        asked.filter { asked in !others.contains { $0.kind == asked.kind } }
    }

    /// Sets the verdict.
    package mutating func judge(_ limits: [Limit]) {
        let found = excesses
        let reasons = found.map { excess in limits.first { $0.covers(excess, of: self) }?.reason }
        if found.isEmpty {
            verdict = .within
        } else if !reasons.contains(nil) {
            verdict = .known(Self.unique(reasons.compactMap(\.self)))
        } else {
            verdict =
                lateness > .milliseconds(Self.limit) ? .notJudged(lateness) : .outside(Self.unique(found.map(\.words)))
        }
    }

    package enum Decision: Hashable, Sendable { case within, outside, notJudged }

    /// The decision of attempts: within if the first that can be judged is, and otherwise the majority; nil while it is
    /// open.
    package static func decision(_ verdicts: [Verdict], ofAtMost count: Int) -> Decision? {
        var (within, outside) = (0, 0)
        for verdict in verdicts {
            switch verdict {
            case .within, .known: within += 1
            case .outside: outside += 1
            case .notJudged: continue
            }
        }
        if within > outside { return .within }
        if outside > count / 2 { return .outside }
        return verdicts.count < count ? nil : .notJudged
    }

    /// The errors beyond the limits.
    private var excesses: [Excess] {
        var found = [Self.excess(.start, "start", motion.startError, over: Self.startLimit)]
        for interruption in motion.interruptions {
            let name = interruption.kind?.rawValue ?? "stall"
            if interruption.tracked == nil || interruption.seen == nil {
                found.append(
                    Excess(aspect: .missing, words: "\(name) not \(interruption.seen == nil ? "seen" : "reported")")
                )
                continue
            }
            found.append(Self.excess(.begin, "begin of a \(name)", interruption.beginError, over: Self.limit))
            if interruption.tracked?.end != nil || interruption.seen?.end != nil {
                found.append(Self.excess(.end, "end of a \(name)", interruption.endError, over: Self.limit))
            }
        }
        for (kind, delay) in hidden {
            found.append(Self.excess(.report, "report of a \(kind.rawValue)", delay, over: Self.limit))
        }
        if let reportedRequests, abs(reportedRequests - loggedRequests) > 1 {
            found.append(Excess(aspect: .requests, words: "requests"))
        }
        return found.compactMap(\.self)
    }

    /// Without an error, neither is a limit.
    private static func excess(_ aspect: Aspect, _ words: String, _ error: Duration?, over limit: Int) -> Excess? {
        let amount = error.map { abs(Int(($0 / .milliseconds(1)).rounded())) } ?? .max
        return amount > limit ? Excess(aspect: aspect, words: words, milliseconds: amount) : nil
    }

    private static func unique(_ texts: [String]) -> [String] {
        texts.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}
