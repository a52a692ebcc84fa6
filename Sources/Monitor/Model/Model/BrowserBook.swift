internal import Instrument
internal import InstrumentWatch

/// The browser that plays for the monitor: the sessions that have a tab, and those that were lost because a tab
/// crashed, or the browser ended or could not be started.
struct BrowserBook: Sendable {
    /// Sessions that were lost, from the first one until the browser plays again.
    struct Trouble: Sendable {
        var reason: String
        var since: Timestamp
        var latest: MonotonicInstant
        var count: Int
        /// Whether a later session was not lost.
        var isAnswered = false
        var isReported = false
    }

    static let alert = "browser"
    static let subject = "browser of the monitor"
    /// Trouble is over once no session was lost for this long.
    static let calm = Duration.seconds(60)

    /// The sessions that have a tab.
    var tabCount = 0
    /// The sessions that were lost since the start of the process.
    private(set) var lostSessions = 0
    private(set) var trouble: Trouble?

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

    mutating func noteReported() { trouble?.isReported = true }

    /// Whether the browser has played again for long enough.
    func isOver(at now: MonotonicInstant) -> Bool {
        trouble.map { $0.isAnswered && $0.latest.duration(to: now) >= Self.calm } ?? false
    }

    mutating func forget() { trouble = nil }
}

extension MonitorModel {
    /// Makes an incident of a browser that fails: the streams that it plays are in no known state.
    mutating func judgeBrowser(at now: Timestamp) {
        guard let trouble = browser.trouble else { return }
        let isNeeded = browser.tabCount > 0 || configuration.streams.contains { $0.player.needsTab }
        if browser.isOver(at: now.instant) || !isNeeded {
            if trouble.isReported { book.resolves(BrowserBook.alert, of: BrowserBook.subject, at: now) }
            return browser.forget()
        }
        guard !trouble.isReported else { return }
        browser.noteReported()
        var cause = StreamCause(.check, "The browser of the monitor failed", since: trouble.since.wallTime)
        cause.text =
            "\(trouble.reason); \(trouble.count) sessions ended with it. The monitor starts it again; until then, nothing is known of "
            + "the streams that it plays."
        let signal = IncidentSignal(
            alert: BrowserBook.alert,
            facts: .init(
                condition: "the browser plays",
                receivers: configuration.receivers.keys.sorted(),
                severity: .warning
            ),
            stream: BrowserBook.subject,
            labels: [:],
            cause: cause,
            since: trouble.since
        )
        book.fires(signal, at: now)
    }

    func writeBrowser(to writer: inout MetricsWriter) {
        guard browser.lostSessions > 0 || configuration.streams.contains(where: \.player.needsTab) else { return }
        writer.begin("instrument_browser_up", .gauge, "0 from a failure of the monitor's browser until it plays again.")
        writer.sample(browser.trouble == nil ? 1 : 0, [])
        writer.begin("instrument_browser_tabs", .gauge, "Sessions that play in a tab of the monitor's browser.")
        writer.sample(Double(browser.tabCount), [])
        writer.begin(
            "instrument_browser_lost_sessions",
            .counter,
            "Sessions that ended because a tab crashed, or the monitor's browser ended or could not be started."
        )
        writer.sample(Double(browser.lostSessions), [])
    }
}
