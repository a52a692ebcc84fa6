import Instrument
import InstrumentJSON
import InstrumentMonitor
import Testing

@testable import InstrumentWatch

@Suite("The monitor's model")
struct MonitorModelTests {
    @Test("The model spreads the starts of sampled streams evenly over their period")
    func spread() throws {
        let streams = try (0..<100).map { try stream("s\($0)", .sampled(every: .seconds(60), for: .seconds(10))) }
        var drive = Drive(configuration(streams))
        drive.run(for: .seconds(59.9))
        #expect(drive.starts.count == 100)
        #expect(Set(drive.starts.map(\.stream)).count == 100)
        let origin = Drive.time(0).instant
        for window in 0..<10 {
            let count = drive.starts.count { Int(origin.duration(to: $0.at) / .seconds(6)) == window }
            #expect((7...13).contains(count), "window \(window): \(count) starts")
        }
    }

    @Test("A sampled stream plays for its time in every period, with a jitter of at most a twentieth")
    func sampled() throws {
        var drive = Drive(configuration([try stream("a", .sampled(every: .seconds(60), for: .seconds(30)))]))
        drive.run(for: .seconds(600))
        #expect((10...11).contains(drive.starts.count))
        #expect(drive.stops.count == 10)
        let origin = Drive.time(0).instant
        for (index, start) in drive.starts.enumerated() {
            let late = origin.duration(to: start.at) - .seconds(60 * index)
            #expect(late >= .zero && late <= .seconds(3), "start \(index) is late by \(late)")
        }
        let state = try #require(drive.model.stream(named: "a"))
        let totals = state.totals(at: drive.now.instant)
        #expect(totals.startup.count >= 10)
        // Each session: 30 s, of which half a second is the start.
        let perSession = totals.playing / totals.startup.count
        #expect((28_000...29_600).contains(perSession), "\(perSession) ms")
        #expect(totals.failedSessions == 0)
    }

    @Test("A continuous stream plays on, and its sessions follow each other")
    func continuous() throws {
        var drive = Drive(configuration([try stream("a")]), ["a": .lasts(.seconds(20))])
        drive.run(for: .seconds(205))
        #expect((9...11).contains(drive.starts.count))
        #expect(drive.stops.isEmpty)
    }

    @Test("The model waits longer after each failure, at most for the limit, and starts again at once after a success")
    func backOff() throws {
        var drive = Drive(
            configuration([try stream("a")]),
            ["a": .fails(after: .milliseconds(100), code: "httpStatus")]
        )
        drive.run(for: .seconds(3_600))
        let gaps = zip(drive.starts, drive.starts.dropFirst()).map { $0.at.duration(to: $1.at) }
        for (index, gap) in gaps.enumerated() {
            let (least, most) = (min(pow2(index) * 0.79, 23), min(pow2(index) * 1.21 + 1.2, 31))
            #expect(gap >= .seconds(least) && gap <= .seconds(most), "gap \(index): \(gap)")
        }
        #expect(gaps.last.map { $0 > .seconds(23) } ?? false)
        let state = try #require(drive.model.stream(named: "a"))
        #expect(state.isUp == false)
        #expect(state.totals(at: drive.now.instant).errors["httpStatus"] == drive.starts.count)
        drive.behaviours["a"] = .plays
        drive.run(for: .seconds(500))
        #expect(drive.model.stream(named: "a")?.isUp == true)
        #expect(drive.model.stream(named: "a")?.failures == 0)
    }

    @Test("A continuous stream that fails once a day starts again within two seconds, also after the twentieth failure")
    func dailyFailures() throws {
        var drive = Drive(configuration([try stream("a")]))
        var options: [Duration] = []
        for _ in 0..<20 {
            drive.run(for: .seconds(86_400))
            let (failed, starts) = (drive.now.instant, drive.starts.count)
            drive.emit(.error, "a", ["errorCode": "connection", "isFatal": true])
            drive.send(.ended(.failed(code: "connection", message: "x")), to: "a")
            drive.run(for: .seconds(400))
            #expect(drive.starts.count == starts + 1)
            options += drive.starts.dropFirst(starts).map { failed.duration(to: $0.at) }
        }
        #expect(options.count == 20 && options.allSatisfy { $0 < .seconds(2) }, "\(options)")
    }

    @Test("A stream that fails soon after each start is tried less and less often")
    func shortSessions() throws {
        var drive = Drive(configuration([try stream("a")]))
        for round in 0..<6 {
            drive.run(for: .seconds(20))
            let (failed, starts) = (drive.now.instant, drive.starts.count)
            drive.send(.ended(.failed(code: "connection", message: "x")), to: "a")
            while drive.starts.count == starts { drive.run(for: .seconds(0.1)) }
            #expect(failed.duration(to: drive.now.instant) >= .seconds(pow2(round) * 0.79))
        }
    }

    private func pow2(_ exponent: Int) -> Double { exponent < 12 ? Double(1 << exponent) : 4_096 }

    @Test("A session that never ends is given up, and other streams are not disturbed")
    func hanging() throws {
        let streams = [
            try stream("bad", .sampled(every: .seconds(60), for: .seconds(10))),
            try stream("good", .sampled(every: .seconds(60), for: .seconds(10))),
        ]
        var drive = Drive(configuration(streams), ["bad": .hangs])
        drive.run(for: .seconds(300))
        #expect(drive.starts.count { $0.stream == "good" } == 5)
        #expect(drive.starts.count { $0.stream == "bad" } >= 2)
        #expect(drive.model.sessions.abandoned >= 2)
        #expect(drive.model.stream(named: "bad")?.isUp == false)
        #expect(drive.model.stream(named: "good")?.isUp == true)
    }

    @Test("A stream without a picture counts as down after the start limit, once for each session")
    func blank() throws {
        var drive = Drive(configuration([try stream("a")]), ["a": .staysBlank])
        drive.run(for: .seconds(29))
        #expect(drive.model.stream(named: "a")?.isUp == nil)
        drive.run(for: .seconds(2))
        #expect(drive.model.stream(named: "a")?.isUp == false)
        drive.run(for: .seconds(20))
        #expect(drive.model.stream(named: "a")?.totals(at: drive.now.instant).errors == ["startTimeout": 1])
        // The session is replaced after another half minute.
        drive.run(for: .seconds(600))
        let sessions = drive.starts.count
        #expect((9...12).contains(sessions))
        let errors = try #require(drive.model.stream(named: "a")).totals(at: drive.now.instant).errorCount
        #expect((sessions - 1...sessions).contains(errors))
    }

    @Test("Stalls count while they last, and agree with the events afterwards")
    func stalls() throws {
        var drive = Drive(configuration([try stream("a")]))
        drive.run(for: .seconds(10.5))
        drive.emit(.bufferBegin, "a")
        drive.run(for: .seconds(6))
        // The latest two seconds may still turn out to be another state.
        var totals = try #require(drive.model.stream(named: "a")).totals(at: drive.now.instant)
        #expect((totals.rebuffers, totals.rebuffering, totals.playing) == (1, 4_000, 10_000))
        drive.emit(.bufferFinish, "a")
        drive.run(for: .seconds(7))
        totals = try #require(drive.model.stream(named: "a")).totals(at: drive.now.instant)
        #expect((totals.rebuffers, totals.rebuffering, totals.playing) == (1, 6_000, 15_000))
    }

    @Test("A reload keeps sessions of streams that did not change, stops removed ones and starts new ones")
    func reload() throws {
        let every = WatchedStream.Schedule.continuous
        var drive = Drive(
            configuration([try stream("keep", every), try stream("gone", every), try stream("moved", every)])
        )
        drive.run(for: .seconds(5))
        let kept = drive.session(of: "keep")
        var relabelled = try stream("keep", every, labels: ["cdn": "b"])
        relabelled.place.line = 99
        drive.reload(
            configuration([relabelled, try stream("moved", every, host: "other.example"), try stream("new", every)])
        )
        #expect(drive.stops.sorted() == ["gone", "moved"])
        drive.run(for: .seconds(70))
        #expect(drive.session(of: "keep") == kept)
        #expect(drive.session(of: "gone") == nil)
        #expect(drive.session(of: "new") != nil)
        #expect(drive.session(of: "moved") != nil)
        #expect(drive.starts.count { $0.stream == "moved" } == 2)
        #expect(drive.model.streams.order.count == 3)
        #expect(drive.model.streams.count == 3)
        #expect(drive.model.stream(named: "keep")?.stream.labels == ["cdn": "b"])
    }

    @Test("A reload with other headers replaces the session: a token that has changed is used at once")
    func reloadedHeaders() throws {
        var first = try stream("a")
        first.headers = [StreamHeader(name: "X-Client", value: .literal("one"))]
        var second = first
        second.headers = [StreamHeader(name: "X-Client", value: .literal("two"))]
        var drive = Drive(configuration([first]))
        drive.run(for: .seconds(5))
        drive.reload(configuration([first]))
        #expect(drive.stops.isEmpty)
        drive.reload(configuration([second]))
        #expect(drive.stops == ["a"])
        drive.run(for: .seconds(70))
        #expect(drive.starts.count == 2)
    }

    @Test("A stop ends all sessions, also of streams that were removed, and starts no more")
    func stop() throws {
        var drive = Drive(configuration([try stream("a"), try stream("b")]), ["b": .hangs])
        drive.run(for: .seconds(5))
        drive.reload(configuration([try stream("a")]))
        drive.stop()
        drive.run(for: .seconds(60))
        #expect(drive.model.isIdle)
        let count = drive.starts.count
        drive.run(for: .seconds(600))
        #expect(drive.starts.count == count)
    }

    @Test("Starts beyond the limit of sessions wait")
    func sessionLimit() throws {
        var options = MonitorOptions()
        options.maxSessions = 3
        let streams = try (0..<10).map { try stream("s\($0)") }
        var drive = Drive(configuration(streams), options: options)
        drive.run(for: .seconds(120))
        #expect(drive.starts.count == 3)
        #expect(drive.model.sessions.running == 3)
        #expect(drive.model.sessions.delayedStarts > 0)
    }

    @Test("Ten thousand streams start at most a few per tenth of a second, and each plays")
    func tenThousand() throws {
        let schedule = WatchedStream.Schedule.sampled(every: .seconds(300), for: .seconds(10))
        let streams = try (0..<10_000).map { try stream("s\($0)", schedule) }
        var options = MonitorOptions()
        options.evaluationInterval = .seconds(60)
        let now = Drive.time(0)
        var model = MonitorModel(configuration(streams), options: options, at: now)
        var starts: [Int: Int] = [:]
        var started: Set<String> = []
        for step in 0...3_000 {
            let time = Drive.time(Int64(step) * 100)
            for effect in model.advance(to: time) {
                switch effect {
                case .start(let id, _):
                    starts[step, default: 0] += 1
                    started.insert(id.stream)
                    for action in [Action.mediaRequest, .start] {
                        let event = Event(action, tracker: TrackerID(id.number), time: time)
                        _ = model.handle(.event(event), of: id, at: time)
                    }
                    _ = model.handle(.ended(.ended), of: id, at: time)
                case .stop, .notify, .keep, .forget, .check: break
                }
            }
        }
        #expect(started.count == 10_000)
        #expect(starts.values.max() ?? 0 <= 8)
    }

    @Test("What is kept of a stream does not grow with events, codes, requests and rules")
    func bounded() throws {
        var drive = Drive(configuration([try stream("a")]))
        drive.run(for: .seconds(2))
        for number in 0..<5_000 {
            drive.emit(.error, "a", ["errorCode": .string("code\(number)"), "errorDescription": "x"])
            let request = RequestObservation(
                kind: "segment",
                status: 100 + number % 900,
                isFailure: false,
                total: .milliseconds(5),
                byteCount: 1
            )
            drive.send(.request(request), to: "a")
            drive.send(.checked(CheckObservation(broken: [.init(rule: "rule\(number)", message: "m")])), to: "a")
        }
        let state = try #require(drive.model.stream(named: "a"))
        let totals = state.totals(at: drive.now.instant)
        #expect(totals.errorCount == 5_000)
        #expect(totals.errors.count <= 25)
        #expect(totals.requestCount == 5_000)
        #expect(totals.requests.count <= 25)
        #expect(state.checks.count <= 200)
        #expect(state.log.latest.count <= 50)
        #expect(state.requests.latest.count <= 40)
    }

    @Test("A broken rule counts as kept after its hold, and a stale playlist by the stream's own limit")
    func checks() throws {
        var watched = try stream("a")
        watched.checks.stale = 3
        var drive = Drive(configuration([watched]))
        drive.run(for: .seconds(2))
        let round = { (age: Int) in
            MonitorInput.checked(CheckObservation(playlistAge: .seconds(age), targetDuration: .seconds(6)))
        }
        drive.send(round(17), to: "a")
        #expect(drive.model.stream(named: "a")?.checks["stale"] == nil)
        drive.send(round(19), to: "a")
        #expect(drive.model.stream(named: "a")?.checks["stale"]?.isBroken == true)
        #expect(drive.model.stream(named: "a")?.playlistAge(at: drive.now.instant) == .seconds(19))
        drive.run(for: .seconds(30))
        drive.send(round(1), to: "a")
        #expect(drive.model.stream(named: "a")?.checks["stale"]?.isBroken == true)
        drive.run(for: .seconds(31))
        drive.send(round(1), to: "a")
        #expect(drive.model.stream(named: "a")?.checks["stale"]?.isBroken == false)
    }

    @Test("After a session, nothing is shown of what only a session has")
    func afterSession() throws {
        var drive = Drive(configuration([try stream("a")]))
        drive.run(for: .seconds(5))
        drive.emit(.ping, "a", ["liveLatency": 4_000, "bitrate": 800_000, "bufferLevel": 9_000])
        drive.send(.checked(CheckObservation(loudness: -23)), to: "a")
        drive.run(for: .seconds(5))
        #expect(drive.model.stream(named: "a")?.latency == .seconds(4))
        drive.send(.ended(.failed(code: "x", message: "m")), to: "a")
        let state = try #require(drive.model.stream(named: "a"))
        #expect(state.latency == nil && state.bitrate == nil && state.buffered == nil && state.loudness == nil)
    }

    @Test("The model shows the delay of its work for a minute, and none of work in time")
    func delays() throws {
        func shown(_ drive: Drive) -> String? {
            String(
                decoding: MonitorMetrics(of: drive.model, MonitorFacts(), at: drive.now.instant).bytes(.prometheus),
                as: UTF8.self
            )
            .split(separator: "\n").first { $0.hasPrefix("instrument_monitor_delay_seconds ") }.map(String.init)
        }
        var drive = Drive(configuration([try stream("a")]))
        drive.run(for: .seconds(60))
        #expect(shown(drive) == "instrument_monitor_delay_seconds 0")
        let due = drive.model.nextDeadline
        let late = Timestamp(instant: due.advanced(by: .seconds(2.5)), wallTime: drive.now.wallTime)
        _ = drive.model.advance(to: late)
        drive.now = late
        #expect(shown(drive) == "instrument_monitor_delay_seconds 2.5")
        drive.run(for: .seconds(25))
        #expect(shown(drive) == "instrument_monitor_delay_seconds 2.5")
        drive.run(for: .seconds(60))
        #expect(shown(drive) == "instrument_monitor_delay_seconds 0")
    }

    @Test("The state document names streams as they are, and reports of sessions that are over change nothing")
    func documents() throws {
        let name = "<script>alert(1)</script>"
        var drive = Drive(configuration([try stream(name)]), [name: .lasts(.seconds(5))])
        drive.run(for: .seconds(3))
        let id = try #require(drive.session(of: name))
        drive.run(for: .seconds(4))
        let before = drive.model.stream(named: name)?.revision
        #expect(drive.model.handle(.ended(.stopped), of: id, at: drive.now).isEmpty)
        #expect(drive.model.stream(named: name)?.revision == before)
        let document = drive.documents.overview(MonitorFacts())
        guard case .array(let rows)? = document["streams"] else { return #expect(Bool(false)) }
        #expect(rows.first?["name"]?.string == name)
        #expect(rows.first?["startup"]?.int == 500)
        #expect(drive.documents.detail(of: name)?["log"] != nil)
        #expect(drive.documents.detail(of: "other") == nil)
    }
}
