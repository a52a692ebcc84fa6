package import InstrumentTerminal

/// The phases of many playbacks.
package enum PlaybackPhase: String, CaseIterable, Sendable {
    case waiting, starting, playing, paused, seeking, stalled, ended, stopped, failed
}

/// The number of playbacks in each phase, in one line.
package struct FleetProgress {
    /// `2 starting  7 playing  1 failed  of 10`
    package let text: TerminalText

    package init(_ phases: [PlaybackPhase]) {
        let counts = Dictionary(phases.map { ($0, 1) }, uniquingKeysWith: +)
        let shown = PlaybackPhase.allCases.compactMap { phase in counts[phase].map { "\($0) \(phase.rawValue)" } }
        text = "\(shown.joined(separator: "  "))  of \(phases.count)"
    }
}
