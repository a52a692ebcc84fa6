import Instrument
import InstrumentHTTP
import InstrumentMonitor
import InstrumentWatch
import Testing

/// Counters as Prometheus sees them: a value that is lower than the one before counts as a restart, and `rate` adds the
/// whole value once more.
@Suite("Counters of the monitor")
struct CounterTests {
    /// Scrapes a model again and again, and holds every counter against the scrape before.
    private struct Scraper {
        private var latest: [Substring: Double] = [:]
        private(set) var decreases: [String] = []
        private(set) var page = ""

        mutating func scrape(_ drive: inout Drive) {
            let shown = drive.model.shown(at: drive.now.instant)
            page = String(
                decoding: MonitorMetrics(of: shown, MonitorFacts(), at: drive.now.instant).bytes(.prometheus),
                as: UTF8.self
            )
            for line in page.split(separator: "\n") where !line.hasPrefix("#") {
                guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else {
                    continue
                }
                let name = line[..<space]
                let isCounter = ["_total", "_bucket", "_sum", "_count"].contains {
                    name.prefix { $0 != "{" }.hasSuffix($0)
                }
                guard isCounter else { continue }
                if let before = latest.updateValue(value, forKey: name), value < before {
                    decreases.append("\(name) from \(before) to \(value) at \(drive.seconds) s")
                }
            }
        }

        func value(_ name: String) -> Double? { latest["\(name){stream=\"a\"}"] }
    }

    private func drive(
        _ drive: inout Drive,
        _ scraper: inout Scraper,
        for duration: Duration,
        every step: Duration = .milliseconds(100)
    ) {
        let end = drive.now.instant.advanced(by: duration)
        while drive.now.instant < end {
            drive.run(for: min(step, drive.now.instant.duration(to: end)))
            scraper.scrape(&drive)
        }
    }

    /// Sends an event of the past, as a probe does whose thread was late.
    private func emit(_ action: Action, of age: Duration, _ drive: inout Drive) {
        let time = Timestamp(instant: drive.now.instant.advanced(by: .zero - age), wallTime: drive.now.wallTime)
        drive.send(.event(Event(action, tracker: TrackerID(0), time: time)), to: "a")
    }

    @Test(
        "No counter decreases between two scrapes when events are handled late, and the sums are exact afterwards",
        arguments: [0, 150, 900, 1_900]
    )
    func lateEvents(_ age: Int) throws {
        var (drive, scraper) = (Drive(configuration([try stream("a")])), Scraper())
        self.drive(&drive, &scraper, for: .seconds(10.5))
        // The playhead stopped at 10.5 s and moved on at 14.5 s; both are noticed later.
        self.drive(&drive, &scraper, for: .milliseconds(age))
        emit(.bufferBegin, of: .milliseconds(age), &drive)
        self.drive(&drive, &scraper, for: .milliseconds(4_000))
        emit(.bufferFinish, of: .milliseconds(age), &drive)
        self.drive(&drive, &scraper, for: .milliseconds(10_000 - age))
        #expect(scraper.decreases == [])
        emit(.stop, of: .zero, &drive)
        scraper.scrape(&drive)
        #expect(scraper.value("instrument_stream_rebuffer_seconds_total") == 4)
        #expect(scraper.value("instrument_stream_playing_seconds_total") == 20)
        #expect(scraper.value("instrument_stream_rebuffers_total") == 1)
        #expect(scraper.decreases == [])
    }

    @Test("No counter decreases when an event is handled later than the model waits for it")
    func veryLateEvents() throws {
        var (drive, scraper) = (Drive(configuration([try stream("a")])), Scraper())
        self.drive(&drive, &scraper, for: .seconds(20))
        emit(.bufferBegin, of: .seconds(8), &drive)
        self.drive(&drive, &scraper, for: .seconds(20))
        emit(.bufferFinish, of: .seconds(15), &drive)
        self.drive(&drive, &scraper, for: .seconds(60))
        #expect(scraper.decreases == [])
    }

    @Test("No counter decreases over sessions, failures, reloads, and a stream that is removed and added again")
    func lives() throws {
        let other = try stream("b")
        var failing = Drive(configuration([try stream("a"), other]), ["a": .lasts(.seconds(7))])
        var scraper = Scraper()
        let request = RequestObservation(
            kind: "segment",
            status: 200,
            isFailure: false,
            total: .seconds(1),
            byteCount: 1
        )
        for round in 0..<12 {
            self.drive(&failing, &scraper, for: .seconds(8.3), every: .milliseconds(700))
            failing.send(.request(request), to: "a")
            failing.emit(.error, "a", ["errorCode": .string("code\(round)")])
            switch round % 4 {
            case 0: failing.reload(configuration([other]))
            case 1: failing.reload(configuration([try stream("a"), other]))
            // Another address: the old session ends beside the new one.
            case 2: failing.reload(configuration([try stream("a", host: "h\(round).example"), other]))
            default: failing.send(.ended(.failed(code: "x", message: "m")), to: "a")
            }
            if round % 4 != 0 { scraper.scrape(&failing) }
        }
        self.drive(&failing, &scraper, for: .seconds(30), every: .milliseconds(700))
        #expect(scraper.decreases == [])
        #expect(scraper.value("instrument_stream_sessions_total") ?? 0 > 8)
        #expect(scraper.value("instrument_stream_request_seconds_count") ?? 0 > 6)
    }

    @Test("A stream that is removed while it plays, and added again, counts every second of both sessions once")
    func handedOver() throws {
        var (drive, scraper) = (Drive(configuration([try stream("a")])), Scraper())
        drive.run(for: .seconds(10.5))
        drive.reload(configuration([]))
        drive.reload(configuration([try stream("a")]))
        // The first session ends after its removal: ten seconds, and the ten milliseconds of its stop.
        drive.run(for: .seconds(100.5))
        drive.emit(.stop, "a")
        scraper.scrape(&drive)
        let started = try #require(drive.starts.last).at
        let second = started.duration(to: drive.now.instant) - .milliseconds(500)
        let playing = try #require(scraper.value("instrument_stream_playing_seconds_total"))
        #expect(abs(playing - 10.01 - second / .seconds(1)) < 0.002, "\(playing) s")
        #expect(scraper.value("instrument_stream_sessions_total") == 2)
        #expect(scraper.value("instrument_stream_startup_seconds_count") == 2)
    }

    @Test("The sums over a window begin with a stream that returns, whatever its counters were")
    func windowsOfReturned() throws {
        let errors = try alert("errors", "errors > 3 over 10m")
        var drive = Drive(configuration([try stream("a")], []))
        drive.run(for: .seconds(2))
        for _ in 0..<10 { drive.emit(.error, "a", ["errorCode": "x"]) }
        drive.reload(configuration([], [errors]))
        drive.run(for: .seconds(10))
        drive.reload(configuration([try stream("a")], [errors]))
        drive.run(for: .seconds(60))
        #expect(drive.model.stream(named: "a")?.totals(at: drive.now.instant).errorCount == 10)
        #expect(drive.model.alerts.isEmpty)
    }
}
