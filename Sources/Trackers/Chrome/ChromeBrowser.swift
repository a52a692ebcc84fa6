public import Instrument
internal import InstrumentText

/// A Chromium, watched over the DevTools protocol: each media element of its pages is a ``ChromePlayer``.
///
/// ```swift
/// // chromium --remote-debugging-port=9222
/// let browser = try ChromeBrowser(at: "9222")
/// browser.connect { player in
///     instrument.add(PlayerTracker(player))
/// }
/// ```
///
/// An observer runs in every document, also in frames, in a world that pages do not see, and waits for no page: a new
/// document continues once the observer is in place. Elements outside of the document and in closed shadow roots are
/// found by the players that the browser makes for them. Instants come from the clock of the page, which is mapped to
/// the clock of this process by questions and answers.
///
/// Everything may be called from any thread.
public final class ChromeBrowser: Sendable {
    let session: ChromeSession

    /// Watches the browser that listens at a port (`--remote-debugging-port`), from ``connect(onPlayer:onGone:)`` on.
    ///
    /// - Parameters:
    ///   - address: `PORT` on this machine, or `HOST:PORT`. The protocol has no encryption and no password.
    ///   - configuration: how it is watched.
    ///   - clock: times signals; give the instrument the same.
    ///   - report: receives notices about the observation, on the browser's queue.
    /// - Throws: ``ChromeError`` if the address is none.
    public init(
        at address: String,
        configuration: ChromeConfiguration = ChromeConfiguration(),
        clock: any SchedulingClock = SystemClock(),
        report: @escaping @Sendable (ChromeDiagnostic) -> Void = { _ in }
    ) throws(ChromeError) {
        let text =
            address.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } ? "127.0.0.1:" + address : address
        guard let place = HostPort(text, defaultPort: nil) else {
            throw ChromeError(
                code: .badAddress,
                description:
                    "the browser's address must be PORT or HOST:PORT, with the PORT of --remote-debugging-port "
                    + "(found '\(address.excerpt())')"
            )
        }
        session = ChromeSession(.port(place), configuration, clock, report)
    }

    /// Starts a Chromium without a window and watches it, from ``connect(onPlayer:onGone:)`` on. It ends with
    /// ``close()``, and with this process, however that ends.
    ///
    /// - Parameters:
    ///   - launch: the program and its options.
    ///   - configuration: how it is watched; a browser that has gone is not started again.
    ///   - clock: times signals; give the instrument the same.
    ///   - report: receives notices about the observation, on the browser's queue.
    /// - Throws: ``ChromeError`` if it cannot be started.
    public init(
        starting launch: ChromeLaunch,
        configuration: ChromeConfiguration = ChromeConfiguration(),
        clock: any SchedulingClock = SystemClock(),
        report: @escaping @Sendable (ChromeDiagnostic) -> Void = { _ in }
    ) throws(ChromeError) {
        session = ChromeSession(.process(try ChromeProcess(launch)), configuration, clock, report)
    }

    deinit { session.close() }

    /// Begins to watch; returns at once. A second call does nothing.
    ///
    /// - Parameters:
    ///   - onPlayer: receives each element that is asked to play, before its first signal, on the browser's queue.
    ///   - onGone: receives each of these elements when it is no more there, after its last signal.
    public func connect(
        onPlayer: @escaping @Sendable (ChromePlayer) -> Void,
        onGone: @escaping @Sendable (ChromePlayer) -> Void = { _ in }
    ) {
        session.begin(ChromeSession.Listener(opened: onPlayer, gone: onGone))
    }

    /// Begins to watch as ``connect(onPlayer:onGone:)`` does.
    ///
    /// - Parameters:
    ///   - onTab: receives the news of the tabs that ``openTab(_:showing:)`` opens, on the browser's queue.
    ///   - onRequest: receives their requests for media.
    package func connect(
        onPlayer: @escaping @Sendable (ChromePlayer) -> Void,
        onGone: @escaping @Sendable (ChromePlayer) -> Void,
        onTab: @escaping @Sendable (ChromeTab, ChromeTab.Event) -> Void,
        onRequest: @escaping @Sendable (ChromeTab, ChromeTab.Request) -> Void
    ) {
        session.begin(ChromeSession.Listener(opened: onPlayer, gone: onGone, tab: onTab, requested: onRequest))
    }

    /// Opens a page in a new tab with a separate profile, without cookies and cache of other tabs; the tab ends with
    /// ``close(_:)``. An element whose tab is lost ends with a `Detach`.
    ///
    /// - Parameter html: a text of HTML that is shown in place of what the address has.
    package func openTab(_ address: String, showing html: [UInt8]? = nil) -> ChromeTab {
        session.openTab(PageToOpen(address: address, body: html))
    }

    /// Closes a tab, which reports that it is closed; returns at once.
    package func close(_ tab: ChromeTab) { session.close(tab) }

    /// Opens a page in a new tab.
    public func open(_ address: String) { session.open(PageToOpen(address: address)) }

    /// Opens an address in a new tab and shows a text of HTML there, in place of what the address has: the page is of
    /// the origin of the address.
    package func open(_ address: String, showing html: [UInt8]) {
        session.open(PageToOpen(address: address, body: html))
    }

    /// Whether a page has an element that loads media, asked to play or not.
    package var hasMedia: Bool { session.state.withLock { state in !state.model.elements.isEmpty } }

    /// Watches no more. A browser that this process has started ends, and its playbacks with a `Stop`; another one
    /// plays on, and its playbacks get a `Detach`.
    public func close() { session.close() }

    /// Waits until watching has ended, after the last signal. Returns ``ChromeEnding/closed`` early if the current
    /// task is cancelled.
    public func waitUntilGone() async -> ChromeEnding {
        await session.ended.wait()
        return session.state.withLock { $0.ending } ?? .closed
    }
}
