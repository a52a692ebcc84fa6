internal import InstrumentProbe
internal import InstrumentTerminal

/// How many of many playbacks are where, in one line.
struct FleetProgress {
    let text: TerminalText

    init(_ probes: [Probe]) {
        var counts: [String: Int] = [:]
        for probe in probes { counts[Self.label(of: probe), default: 0] += 1 }
        let shown = Self.labels.compactMap { label in counts[label].map { "\($0) \(label)" } }
        text = "\(shown.joined(separator: "  "))  of \(probes.count)"
    }

    private static let labels = [
        "waiting", "starting", "playing", "paused", "seeking", "stalled", "ended", "stopped", "failed",
    ]

    private static func label(of probe: Probe) -> String {
        switch probe.outcome {
        case .ended: return "ended"
        case .stopped: return "stopped"
        case .failed: return "failed"
        case nil: break
        }
        switch probe.progress.state {
        case .idle: return "waiting"
        case .loading, .finished: return "starting"
        case .playing: return "playing"
        case .paused: return "paused"
        case .seeking: return "seeking"
        case .stalled: return "stalled"
        }
    }
}
