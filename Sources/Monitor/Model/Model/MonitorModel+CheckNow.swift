package import Instrument
internal import InstrumentWatch

/// The outcome of the wish to check a stream now.
package enum CheckOutcome: String, Hashable, Sendable {
    /// A check starts now.
    case starts
    /// The stream is being checked because of an earlier wish.
    case runs
    /// The configuration has no checks for the stream.
    case noChecks
    /// As many checks as may run at a time do.
    case busy
    /// No stream has this name.
    case unknown
    /// The monitor stops.
    case stopping

    /// Why nothing is checked; nil if a check starts.
    package var refusal: String? {
        switch self {
        case .starts: nil
        case .runs: "a check of this stream runs already; its findings appear when it is over"
        case .noChecks:
            "the stream has no checks; add `checks` to it in the configuration, such as `checks: { rules: true, black: 5s }`"
        case .busy: "\(MonitorModel.mostChecks) checks run already; try again in half a minute"
        case .unknown: "no stream has this name"
        case .stopping: "the monitor stops"
        }
    }
}

extension MonitorModel {
    /// Checks that run at a time because people asked for them.
    package static let mostChecks = 4
    private static let longestInterval = Duration.seconds(15)

    /// Checks a stream once, beside its sessions and their checks.
    package mutating func checkNow(
        _ name: String,
        at now: Timestamp
    ) -> (outcome: CheckOutcome, effects: [MonitorEffect]) {
        guard let slot = streams.slots[name], let stream = streams[slot]?.stream else { return (.unknown, []) }
        if isStopping { return (.stopping, []) }
        if !stream.checks.isOn { return (.noChecks, []) }
        if checking[slot] != nil { return (.runs, []) }
        if checking.count >= Self.mostChecks { return (.busy, []) }
        checking[slot] = now.instant
        streams.change(slot) { $0.revision += 1 }
        return (.starts, [.check(slot, stream)])
    }

    /// Takes what a check found that a person asked for. Rules that the whole check did not find broken are kept.
    package mutating func handle(
        _ progress: CheckProgress,
        ofCheck slot: Int,
        at now: Timestamp
    ) -> [MonitorEffect] {
        switch progress {
        case .found(var observation):
            guard checking[slot] != nil else { return [] }
            // A rule may be broken only later in the check.
            observation.isReadable = false
            return take(observation, slot, hold: options.checkHold, at: now)
        case .ended(let observation):
            guard let begin = checking.removeValue(forKey: slot) else { return [] }
            streams.change(slot) { $0.note(outcomeOf: observation, at: now) }
            guard var observation, let checks = streams[slot]?.stream.checks else { return [] }
            // Half a minute of a live stream is too short to know that a longer interval is over.
            let longest = [checks.black, checks.freeze, checks.silence].compactMap(\.self).max() ?? .zero
            if observation.playlistAge != nil, longest > Self.longestInterval { observation.isReadable = false }
            return take(observation, slot, hold: max(.seconds(1), begin.duration(to: now.instant)), at: now)
        }
    }
}
