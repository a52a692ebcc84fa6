import Instrument
import InstrumentMonitor
import InstrumentWatch
import Testing

@testable import InstrumentMonitorRuntime

@Suite("A session in a tab of the browser")
struct BrowserSessionTests {
    private func session(_ player: WatchedStream.Player = .page) throws -> BrowserSession {
        var stream = try stream("a")
        stream.player = player
        return BrowserSession(stream)
    }

    private func event(_ action: Action, _ tracker: Int = 1, _ attributes: Attributes = [:]) -> Event {
        Event(action, tracker: TrackerID(tracker), time: Drive.time(0), attributes: attributes)
    }

    @Test("The session of a page follows one element, and the next one once its playback is over")
    func follows() throws {
        var session = try session()
        session.opened()
        #expect(session.deadline == .request)
        #expect(session.take(event(.streamLoad, 1)) && session.deadline == nil)
        let others = [event(.streamLoad, 2), event(.start, 2), event(.end, 2)].filter { session.take($0) }
        #expect(others.isEmpty && session.followed == TrackerID(1))
        #expect(session.take(event(.end, 1)) && session.deadline == .next)
        #expect(session.take(event(.streamLoad, 3)) && session.deadline == nil)
        #expect(session.take(event(.stop, 3)) && session.pass(.next) == nil)
        #expect(session.isClosing && session.ending == .ended)
        // Nothing that follows begins another playback.
        let isTaken = session.take(event(.streamLoad, 4))
        #expect(!isTaken)
    }

    @Test("The session of a playlist ends with its playback, and fails with its error")
    func ends() throws {
        var session = try session(.chrome)
        session.opened()
        _ = session.take(event(.streamLoad))
        let error = event(.error, 1, ["isFatal": true, "errorCode": "X", "errorDescription": "words"])
        let isTaken = session.take(error)
        #expect(isTaken)
        #expect(session.isClosing && session.ending == .failed(code: "X", message: "words"))
        session.close(.stopped)
        #expect(session.ending == .failed(code: "X", message: "words"))
    }

    @Test("A page that plays nothing fails, and a browser that opens or closes no tab is at fault itself")
    func deadlines() throws {
        var session = try session()
        #expect(session.pass(.opening)?.contains("opened no tab") == true && session.ending == nil)
        session.opened()
        #expect(session.pass(.opening) == nil)
        #expect(session.pass(.request) == nil)
        guard case .failed(code: "nothingPlays", _)? = session.ending else { return #expect(Bool(false)) }
        #expect(session.pass(.closing)?.contains("did not close a tab") == true)
    }

    @Test("A page that plays and answers nothing for half a minute fails")
    func hangs() throws {
        var session = try session()
        let begin = Drive.time(0).instant
        _ = session.take(event(.streamLoad))
        session.judge(answer: begin, at: begin.advanced(by: .seconds(100)))
        _ = session.take(event(.start))
        session.judge(answer: nil, at: begin.advanced(by: .seconds(100)))
        session.judge(answer: begin, at: begin.advanced(by: .seconds(29)))
        #expect(!session.isClosing)
        session.judge(answer: begin, at: begin.advanced(by: .seconds(30)))
        guard case .failed(code: "pageHangs", _)? = session.ending else { return #expect(Bool(false)) }
    }

    @Test("A browser that keeps ending is started after 1, 2, 4 … 60 s, and after 1 s once it has lived for long")
    func pacing() {
        var (pacing, now) = (BrowserPacing(), Drive.time(0).instant)
        var waits: [Int] = []
        for _ in 0..<8 {
            pacing.start(at: now)
            pacing.fail("gone", at: now)
            let wait = pacing.wait(at: now) ?? .zero
            waits.append(Int(wait.seconds))
            now = now.advanced(by: wait)
            #expect(pacing.wait(at: now) == nil)
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 60, 60])
        pacing.start(at: now)
        now = now.advanced(by: .seconds(600))
        pacing.fail("gone", at: now)
        #expect(pacing.wait(at: now) == .seconds(1))
    }

    @Test(
        "Chromium's names of failures become the monitor's",
        arguments: [
            ("net::ERR_NAME_NOT_RESOLVED", RequestObservation.Failure.nameNotFound),
            ("net::ERR_PROXY_CONNECTION_FAILED", .proxy), ("net::ERR_TUNNEL_CONNECTION_FAILED", .proxy),
            ("net::ERR_CONNECTION_REFUSED", .connection), ("net::ERR_CONNECTION_TIMED_OUT", .timedOut),
            ("net::ERR_CERT_DATE_INVALID", .tls), ("net::ERR_BLOCKED_BY_CLIENT", .refused), ("anything", .connection),
        ]
    )
    func failures(name: String, failure: RequestObservation.Failure) {
        #expect(RequestObservation.Failure(ofChromium: name) == failure)
    }
}

@Suite("Streams that a browser plays")
struct BrowserStreamTests {
    private func streams(_ count: Int, _ schedule: WatchedStream.Schedule = .continuous) throws -> [WatchedStream] {
        try (0..<count).map { number in
            var stream = try stream("s\(number)", schedule)
            stream.player = .chrome
            return stream
        }
    }

    private func metric(_ name: String, _ drive: Drive) -> Double? {
        let page = String(
            decoding: MonitorMetrics(of: drive.model, MonitorFacts(), at: drive.now.instant).bytes(.prometheus),
            as: UTF8.self
        )
        return page.split(separator: "\n").first { $0.hasPrefix(name + " ") }.flatMap {
            Double($0.dropFirst(name.count + 1))
        }
    }

    @Test("Sessions beyond the limit of tabs wait, and those of the probe do not")
    func tabLimit() throws {
        var options = MonitorOptions()
        options.maxTabs = 2
        let schedule = WatchedStream.Schedule.sampled(every: .seconds(60), for: .seconds(10))
        let probes = try (0..<3).map { try stream("p\($0)") }
        var drive = Drive(configuration(try streams(4, schedule) + probes), options: options)
        var most = 0.0
        for _ in 0..<240 {
            drive.run(for: .seconds(1))
            most = max(most, metric("instrument_browser_tabs", drive) ?? 0)
        }
        #expect(most <= 2)
        let started = Set(drive.starts.map(\.stream))
        #expect(started == ["s0", "s1", "s2", "s3", "p0", "p1", "p2"])
        #expect(drive.model.sessions.running >= 3)
    }

    @Test("A browser that fails is an incident of the monitor, and the streams neither fail nor are down")
    func loss() throws {
        var configuration = configuration(try streams(2), [try alert("down", "up == 0")])
        configuration.receivers = [:]
        var drive = Drive(configuration)
        drive.run(for: .seconds(90))
        for name in ["s0", "s1"] { drive.send(.ended(.lost(reason: "the browser went away")), to: name) }
        drive.run(for: .seconds(10))
        for name in ["s0", "s1"] {
            let state = try #require(drive.model.stream(named: name))
            let totals = state.totals(at: drive.now.instant)
            #expect(state.isUp == true && state.failures == 0 && totals.failedSessions == 0 && totals.errorCount == 0)
            #expect(drive.starts.count { $0.stream == name } == 2)
        }
        #expect(drive.messages.isEmpty)
        #expect(drive.model.book.open.map { $0.activeMembers.flatMap(\.alerts) } == [["browser"]])
        #expect(metric("instrument_browser_up", drive) == 0)
        #expect(metric("instrument_browser_lost_sessions_total", drive) == 2)
        // Both play again.
        drive.run(for: .seconds(90))
        #expect(metric("instrument_browser_up", drive) == 1)
        #expect(drive.model.book.open.allSatisfy { $0.activeMembers.isEmpty })
    }

    @Test("Sessions that keep being lost are tried less and less often, up to every half minute")
    func pacing() throws {
        var drive = Drive(configuration(try streams(1)), ["s0": .hangs])
        for _ in 0..<600 {
            drive.run(for: .seconds(1))
            drive.send(.ended(.lost(reason: "no browser")), to: "s0")
        }
        #expect((20...40).contains(drive.starts.count), "\(drive.starts.count)")
        let state = try #require(drive.model.stream(named: "s0"))
        #expect(state.isUp == nil && state.totals(at: drive.now.instant).failedSessions == 0)
        #expect(drive.model.book.open.count == 1)
    }

    @Test("A second playback of a page counts on, and its start too")
    func secondPlayback() throws {
        var drive = Drive(configuration(try streams(1)), ["s0": .staysBlank])
        drive.run(for: .seconds(1))
        for _ in 0..<2 {
            drive.emit(.streamLoad, "s0")
            drive.run(for: .seconds(1))
            drive.emit(.start, "s0")
            drive.run(for: .seconds(10))
            drive.emit(.end, "s0")
            drive.run(for: .seconds(1))
        }
        drive.send(.ended(.ended), to: "s0")
        let totals = try #require(drive.model.stream(named: "s0")).totals(at: drive.now.instant)
        #expect(totals.playing == 20_000 && totals.sessions == 1 && totals.failedSessions == 0)
    }
}
