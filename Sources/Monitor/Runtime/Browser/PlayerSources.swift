package import InstrumentMonitor
package import InstrumentWatch

/// Plays each stream by what its configuration says: a probe, or a browser.
package struct PlayerSources: SessionSource {
    private let probes: ProbeSource
    private let browser: BrowserSource

    package init(_ probes: ProbeSource, _ browser: BrowserSource) { (self.probes, self.browser) = (probes, browser) }

    package func start(_ id: SessionID, _ stream: WatchedStream, report: @escaping @Sendable (MonitorInput) -> Void) {
        if stream.player.needsTab {
            browser.start(id, stream, report: report)
        } else {
            probes.start(id, stream, report: report)
        }
    }

    /// Only one of the sources knows the session.
    package func stop(_ id: SessionID) {
        probes.stop(id)
        browser.stop(id)
    }
}
