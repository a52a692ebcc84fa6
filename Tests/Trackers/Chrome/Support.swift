import Foundation
import Instrument
import InstrumentChrome
import InstrumentOrigin
import LoopbackServers
import Testing

/// A real Chromium, the signals of its media elements, and waits for these.
final class ChromeStage: Sendable {
    /// A signal of one of the elements, which are numbered in the order in which they come.
    struct Entry: Sendable {
        var player: Int
        var signal: PlayerSignal
    }

    private struct Waiter {
        var isEnough: @Sendable (State) -> Bool
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var entries: [Entry] = []
        var players: [ChromePlayer] = []
        var goneCount = 0
        var diagnostics: [ChromeDiagnostic] = []
        var tabEvents: [ChromeTab: [ChromeTab.Event]] = [:]
        var waiters: [Waiter] = []
        var isOver = false
    }

    let browser: ChromeBrowser
    let scratch: Scratch
    private let state: Lock<State>

    /// Options that keep a browser of tests on this machine.
    static let options = [
        "--no-proxy-server", "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ]

    /// Starts a browser, or returns nil with a notice if none is installed.
    static func start(
        _ configuration: ChromeConfiguration = ChromeConfiguration(),
        arguments: [String] = []
    ) throws -> ChromeStage? {
        let scratch = try Scratch()
        let state = Lock(State())
        let launch = ChromeLaunch(arguments: options + arguments, folder: scratch.path)
        let result = Result<ChromeBrowser, ChromeError> { () throws(ChromeError) in
            try ChromeBrowser(starting: launch, configuration: configuration) { Self.note($0, state) }
        }
        if case .failure(let error) = result, error.code == .notInstalled {
            print("SKIPPED: the tracker of Chromium, because \(error)")
            return nil
        }
        return ChromeStage(try result.get(), scratch, state)
    }

    /// Attaches to a browser that listens at a port.
    static func attach(to address: String, _ configuration: ChromeConfiguration = ChromeConfiguration()) throws
        -> ChromeStage
    {
        let state = Lock(State())
        let browser = try ChromeBrowser(at: address, configuration: configuration) { Self.note($0, state) }
        return ChromeStage(browser, try Scratch(), state)
    }

    private init(_ browser: ChromeBrowser, _ scratch: Scratch, _ state: Lock<State>) {
        (self.browser, self.scratch, self.state) = (browser, scratch, state)
        browser.connect { [state] player in
            let number = state.withLock { state in
                state.players.append(player)
                return state.players.count - 1
            }
            player.report { signal in
                Self.change(state) { $0.entries.append(Entry(player: number, signal: signal)) }
            }
        } onGone: { [state] _ in
            Self.change(state) { $0.goneCount += 1 }
        } onTab: { [state] tab, event in
            Self.change(state) { $0.tabEvents[tab, default: []].append(event) }
        } onRequest: { _, _ in
        }
        Task { [browser, state] in
            _ = await browser.waitUntilGone()
            Self.change(state) { $0.isOver = true }
        }
    }

    private static func note(_ diagnostic: ChromeDiagnostic, _ state: Lock<State>) {
        change(state) { $0.diagnostics.append(diagnostic) }
    }

    private static func change(_ state: Lock<State>, _ body: (inout State) -> Void) {
        let ready = state.withLock { state in
            body(&state)
            let waiters = state.waiters
            let isReady = waiters.map { [state] in state.isOver || $0.isEnough(state) }
            state.waiters = zip(waiters, isReady).filter { !$0.1 }.map(\.0)
            let ready = zip(waiters, isReady).filter(\.1).map(\.0)
            return ready.map(\.continuation)
        }
        for continuation in ready { continuation.resume() }
    }

    var entries: [Entry] { state.withLock { $0.entries } }
    var players: [ChromePlayer] { state.withLock { $0.players } }
    var diagnostics: [ChromeDiagnostic] { state.withLock { $0.diagnostics } }
    func events(of tab: ChromeTab) -> [ChromeTab.Event] { state.withLock { $0.tabEvents[tab] ?? [] } }
    var goneCount: Int { state.withLock { $0.goneCount } }

    func signals(of player: Int = 0) -> [PlayerSignal] { entries.filter { $0.player == player }.map(\.signal) }

    /// The actions of an element without stalls: on a busy machine, the pictures of a real player stand now and then.
    func actions(of player: Int = 0) -> [Action] {
        signals(of: player).map(\.action).filter { $0 != .bufferBegin && $0 != .bufferFinish }
    }

    /// Waits until this number of signals of an action has come, or the browser has ended.
    func wait(for action: Action, _ count: Int = 1) async {
        await wait { $0.count { $0.signal.action == action } >= count }
    }

    func wait(until isEnough: @escaping @Sendable ([Entry]) -> Bool) async {
        await waitForState { isEnough($0.entries) }
    }

    /// Waits until this number of news of a tab has come, or the browser has ended.
    func wait(forEventsOf tab: ChromeTab, _ count: Int) async {
        await waitForState { $0.tabEvents[tab]?.count ?? 0 >= count }
    }

    private func waitForState(_ isEnough: @escaping @Sendable (State) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if state.isOver || isEnough(state) { return true }
                state.waiters.append(Waiter(isEnough: isEnough, continuation: continuation))
                return false
            }
            if isReady { continuation.resume() }
        }
    }

    func end() async {
        browser.close()
        _ = await browser.waitUntilGone()
    }
}

/// A page of a test, and the film that it plays.
final class PageServer: Sendable {
    private let server: TestServer
    let origin: Origin

    /// Serves pages and scripts by their paths; `FILM` in a page stands for the address of the film, and `MEDIA/` for
    /// that of the folder of the film's segments.
    init(_ pages: [String: String]) async throws {
        let origin = try await Origin.start(
            media: [.fixtures(try await Fixtures.make(in: MediaCache.origin))],
            schedule: try DeliverySchedule("unlimited")
        )
        self.origin = origin
        server = try TestServer { request in
            guard let page = pages[request.target] ?? pages[String(request.target.prefix { $0 != "?" })] else {
                return [.respond("404 Not Found")]
            }
            let text = page.replacingOccurrences(of: "FILM", with: origin.url("vod/movie.mp4?token=secret"))
                .replacingOccurrences(of: "MEDIA/", with: origin.url("vod/fmp4/v0/"))
            let type = request.target.hasSuffix(".js") ? "text/javascript" : "text/html"
            return [.respond("200 OK", Array(text.utf8), "Content-Type: \(type); charset=utf-8")]
        }
    }

    func url(_ path: String = "/") -> String { server.url(path) }
    func stop() async { await origin.stop() }
}
