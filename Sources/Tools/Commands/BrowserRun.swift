internal import ArgumentParser
internal import Instrument
internal import InstrumentChrome
internal import InstrumentCommandLine
internal import InstrumentTerminal

/// A run of a browser, from its first page to the delivery of the last sample: one tracker for each media element that
/// is asked to play.
struct BrowserRun {
    /// When a run ends by itself.
    struct Limits {
        /// Ends once every element that has played has ended.
        var endsWithPlayback = false
        /// The time in which something has to play.
        var start: Duration?
        /// The time of the run.
        var duration: Duration?
        /// The number of pages that the run opens; it ends when none of them can be opened.
        var pages = 0
    }

    /// How long a page may load nothing before the run says what it waits for.
    private static var quietTime: Duration { .seconds(5) }

    /// How long a page may take to begin its next media.
    private static var grace: Duration { .seconds(2) }

    let terminal: Terminal
    let delivery: DeliveryOptions
    var limits = Limits()
    var isQuiet = false

    /// Measures, delivers and prints a summary.
    ///
    /// - Parameter open: opens pages, once the browser is watched.
    func run(
        _ make: (@escaping @Sendable (ChromeDiagnostic) -> Void) throws -> ChromeBrowser,
        open: (ChromeBrowser) -> Void = { _ in }
    ) async throws {
        let chain = try MeasuringChain(delivery, terminal, withAds: true)
        defer { chain.close() }
        let terminal = terminal
        let facts = Lock(Facts())
        let browser = try make { notice in
            terminal.note("player-monitor: \(notice)")
            if notice.kind == .pageFailed { facts.withLock { $0.failedPages += 1 } }
        }
        let elements = BrowserElements(chain.instrument)
        chain.begin { browser.close() }
        browser.connect {
            elements.add($0)
        } onGone: {
            elements.remove($0)
        }
        open(browser)
        let supervision = supervise(browser, elements, chain.clock, facts)
        let tasks = [supervision, chain.showProgress { elements.progress }]
        let ending = await browser.waitUntilGone()
        for task in tasks { task?.cancel() }
        await chain.finish()
        try report(ending, elements.rows(chain.summary), chain.watch, facts.withLock { $0 })
    }

    /// The pages so far.
    private struct Facts {
        var failedPages = 0
        var hasMedia = false
    }

    /// Ends the run by its limits.
    private func supervise(
        _ browser: ChromeBrowser,
        _ elements: BrowserElements,
        _ clock: SystemClock,
        _ facts: Lock<Facts>
    ) -> Task<Void, Never>? {
        let limits = limits
        guard limits.endsWithPlayback || limits.start != nil || limits.duration != nil else { return nil }
        let begin = clock.now
        if let duration = limits.duration {
            _ = clock.schedule(at: begin.advanced(by: duration)) { [weak browser] in browser?.close() }
        }
        return Task {
            var quietSince: MonotonicInstant?
            var noted: Bool?
            while !Task.isCancelled {
                try? await clock.sleep(until: clock.now.advanced(by: .milliseconds(200)))
                let now = clock.now
                let hasMedia = browser.hasMedia
                let pages = facts.withLock { facts in
                    facts.hasMedia = facts.hasMedia || hasMedia
                    return facts
                }
                if limits.pages > 0, pages.failedPages >= limits.pages { browser.close() }
                if let start = limits.start, noted != pages.hasMedia, begin.duration(to: now) >= Self.quietTime,
                    !elements.hasAny
                {
                    noted = pages.hasMedia
                    let missing = pages.hasMedia ? "asks nothing to play" : "loads no media"
                    terminal.note("player-monitor: the page \(missing) yet; waiting for up to \(start.seconds) s")
                }
                if let start = limits.start, !elements.hasStarted, begin.duration(to: now) >= start { browser.close() }
                guard limits.endsWithPlayback, elements.areOver else {
                    quietSince = nil
                    continue
                }
                quietSince = quietSince ?? now
                if let quietSince, quietSince.duration(to: now) >= Self.grace { browser.close() }
            }
        }
    }

    private func report(
        _ ending: ChromeEnding,
        _ rows: [FleetTable.Row],
        _ watch: DeliveryWatch,
        _ facts: Facts
    ) throws {
        var isFailed = facts.failedPages > 0 || rows.contains { $0.ending.isFailure }
        switch ending {
        case .notThere(let reason):
            terminal.note("player-monitor: cannot reach the browser: \(reason)")
            isFailed = true
        case .browserWentAway(let reason):
            if limits.endsWithPlayback { terminal.note("player-monitor: the browser went away: \(reason)") }
            isFailed = isFailed || limits.endsWithPlayback
        case .closed: break
        }
        if rows.isEmpty, ending == .closed, facts.failedPages == 0, let start = limits.start {
            let found =
                facts.hasMedia
                ? "the page loads media, but maybe waits for a person's click" : "the page has loaded no media"
            terminal.note(
                "player-monitor: nothing on the page was asked to play within \(start.seconds) s: \(found); check the address, or "
                    + "give the page more time with --timeout"
            )
            isFailed = true
        }
        if isQuiet {
            for case .failed(_, let message) in rows.map(\.ending) { terminal.note("player-monitor: \(message)") }
        } else if let row = rows.first, rows.count == 1 {
            for line in row.record.lines(headline: "\(row.source): \(row.ending.sentence)") { terminal.note(line) }
        } else if !rows.isEmpty {
            for line in FleetTable(rows).lines { terminal.note(line) }
        }
        let isDelivered = terminal.noteUndelivered(watch)
        try terminal.checkOutput()
        if isFailed { throw ExitCode(ExitStatus.failed.rawValue) }
        if !isDelivered { throw ExitCode(ExitStatus.undelivered.rawValue) }
    }
}
