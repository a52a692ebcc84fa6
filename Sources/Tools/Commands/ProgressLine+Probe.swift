internal import InstrumentCommandLine
internal import InstrumentProbe
internal import InstrumentTerminal

extension ProgressLine {
    /// The progress of one playback, or the number of playbacks in each phase.
    static func text(of probes: [Probe]) -> TerminalText {
        if probes.count == 1, let probe = probes.first { return text(probe.progress) }
        return FleetProgress(probes.map(phase)).text
    }

    private static func text(_ progress: ProbeProgress) -> TerminalText {
        let symbol =
            switch progress.state {
            case .playing: "▶"
            case .paused: "⏸"
            case .finished: "■"
            default: "…"
            }
        let (position, buffered) = (progress.position, progress.buffered)
        let length = progress.duration.map { " / " + clock($0) } ?? ""
        let bar = bar(position: position, buffered: buffered, duration: progress.duration)
        return "\(symbol) \(clock(position))\(length)  \(bar)buffer \(seconds(buffered))  \(progress.state.rawValue)"
    }

    private static func phase(of probe: Probe) -> PlaybackPhase {
        switch probe.outcome {
        case .ended: return .ended
        case .stopped: return .stopped
        case .failed: return .failed
        case nil: break
        }
        switch probe.progress.state {
        case .idle: return .waiting
        case .loading, .finished: return .starting
        case .playing: return .playing
        case .paused: return .paused
        case .seeking: return .seeking
        case .stalled: return .stalled
        }
    }
}
