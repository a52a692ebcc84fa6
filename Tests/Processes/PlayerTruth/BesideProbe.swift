import Instrument
import InstrumentFrameCode
import InstrumentProbe
import TruthStage

/// The probe with a player's profile, over the same schedule and at the same time, with a separate link.
final class BesideProbe: Sendable {
    private let probe: Probe
    private let schedule: TruthSchedule
    private let journal = SignalJournal()
    private let begin = Lock<MonotonicInstant?>(nil)

    init(_ profile: PlayerProfile, _ address: String, _ schedule: TruthSchedule) {
        probe = Probe(MediaSource(address), configuration: ProbeConfiguration(profile: profile))
        self.schedule = schedule
        probe.report { [journal] in journal.append($0) }
    }

    /// Plays, and does the steps of the app at their times.
    func play() {
        let begin = SystemClock().now
        self.begin.withLock { $0 = begin }
        probe.play()
        Task { [probe, schedule] in
            try await schedule.perform(since: begin) { step in
                switch step {
                case .pause: probe.pause()
                case .resume: probe.resume()
                case .seek(_, let time): probe.seek(to: .milliseconds(time))
                }
            }
        }
    }

    /// What it showed until now; nil if it has not begun. The probe stops.
    func finish() -> TruthRow.Probed? {
        let signals = journal.signals
        probe.stop()
        guard let begin = begin.withLock({ $0 }) else { return nil }
        let motion = MotionComparison(signals: signals, eye: PlaybackEye(), since: begin, until: SystemClock().now)
        let hasFailed = signals.contains { $0.action == .error }
        let stalls = motion.interruptions.filter { $0.kind == .stall }
        return TruthRow.Probed(
            start: motion.trackedStart,
            stalls: stalls.map { $0.tracked?.length },
            hasFailed: hasFailed
        )
    }
}
