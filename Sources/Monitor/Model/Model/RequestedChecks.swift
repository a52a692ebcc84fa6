internal import Instrument
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
        case .busy: "\(RequestedChecks.most) checks run already; try again in half a minute"
        case .unknown: "no stream has this name"
        case .stopping: "the monitor stops"
        }
    }
}

/// The checks that run because people asked for them, by the slot of the stream.
struct RequestedChecks: Sendable {
    /// Checks that run at a time.
    static let most = 4
    /// A longer interval of black, frozen or silent media may be over only later than half a minute of a live stream
    /// shows.
    private static let longestInterval = Duration.seconds(15)

    private var begins: [Int: MonotonicInstant] = [:]

    func isChecking(_ slot: Int) -> Bool { begins[slot] != nil }
    var isFull: Bool { begins.count >= Self.most }

    mutating func begin(_ slot: Int, at now: MonotonicInstant) { begins[slot] = now }

    /// Takes note that a check is over; returns when it began, or nil for a check that nobody has asked for.
    mutating func end(_ slot: Int) -> MonotonicInstant? { begins.removeValue(forKey: slot) }

    /// What a check at its end says of a stream with these settings: whether rules that it did not find are kept.
    static func conclusion(_ observation: CheckObservation, of settings: CheckSettings) -> CheckObservation {
        var observation = observation
        let longest = [settings.black, settings.freeze, settings.silence].compactMap(\.self).max() ?? .zero
        if observation.playlistAge != nil, longest > longestInterval { observation.isReadable = false }
        return observation
    }
}
