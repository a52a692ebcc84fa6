internal import Instrument
internal import InstrumentWatch

/// The browser that plays for the monitor: the sessions that have a tab, and those that were lost because a tab
/// crashed, or the browser ended or could not be started.
struct BrowserBook: Sendable {
    /// Sessions that were lost, from the first one until the browser plays again.
    private struct Trouble: Sendable {
        var reason: String
        var since: Timestamp
        var latest: MonotonicInstant
        var count: Int
        /// Whether a later session was not lost.
        var isAnswered = false
        var isReported = false
    }

    private static let alert = "browser"
    private static let subject = "browser of the monitor"
    /// Trouble is over once no session was lost for this long.
    private static let calm = Duration.seconds(60)

    /// The sessions that have a tab.
    private(set) var tabCount = 0
    /// The sessions that were lost since the start of the process.
    private var lostSessions = 0
    private var trouble: Trouble?

    /// Takes note that a session with a tab begins.
    mutating func begin() { tabCount += 1 }

    /// Takes the end of a session with a tab.
    mutating func finish(_ run: StreamRun, _ ending: SessionEnding, at now: Timestamp) {
        tabCount -= 1
        guard case .lost(let reason) = ending else {
            if run.hasShownPicture { notePicture(of: run) }
            return
        }
        lostSessions += 1
        var current = trouble ?? Trouble(reason: reason, since: now, latest: now.instant, count: 0)
        (current.reason, current.latest, current.isAnswered) = (String(reason.prefix(300)), now.instant, false)
        current.count += 1
        trouble = current
    }

    /// Takes note that a session with a tab shows a picture.
    mutating func notePicture(of run: StreamRun) {
        if let latest = trouble?.latest, run.begin.instant >= latest { trouble?.isAnswered = true }
    }

    // MARK: Incidents

    /// The incident of a browser that fails: the streams that it plays are in no known state.
    mutating func judge(_ configuration: WatchConfiguration, at now: Timestamp) -> [IncidentNews] {
        guard let trouble else { return [] }
        let isNeeded = tabCount > 0 || configuration.streams.contains { $0.player.needsTab }
        // It is over once the browser has played again for long enough.
        if trouble.isAnswered && trouble.latest.duration(to: now.instant) >= Self.calm || !isNeeded {
            self.trouble = nil
            return trouble.isReported ? [.resolves(alert: Self.alert, subject: Self.subject)] : []
        }
        guard !trouble.isReported else { return [] }
        self.trouble?.isReported = true
        var cause = StreamCause(.check, "The browser of the monitor failed", since: trouble.since.wallTime)
        cause.text =
            "\(trouble.reason); \(trouble.count) sessions ended with it. The monitor starts it again; until then, nothing is known of "
            + "the streams that it plays."
        let signal = IncidentSignal(
            alert: Self.alert,
            facts: .init(
                condition: "the browser plays",
                receivers: configuration.receivers.keys.sorted(),
                severity: .warning
            ),
            stream: Self.subject,
            labels: [:],
            cause: cause,
            since: trouble.since
        )
        return [.fires(signal)]
    }

    func write(_ configuration: WatchConfiguration, to writer: inout MetricsWriter) {
        guard lostSessions > 0 || configuration.streams.contains(where: \.player.needsTab) else { return }
        writer.begin("instrument_browser_up", .gauge, "0 from a failure of the monitor's browser until it plays again.")
        writer.sample(trouble == nil ? 1 : 0, [])
        writer.begin("instrument_browser_tabs", .gauge, "Sessions that play in a tab of the monitor's browser.")
        writer.sample(Double(tabCount), [])
        writer.begin(
            "instrument_browser_lost_sessions",
            .counter,
            "Sessions that ended because a tab crashed, or the monitor's browser ended or could not be started."
        )
        writer.sample(Double(lostSessions), [])
    }
}
