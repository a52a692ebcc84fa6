import Instrument
import InstrumentJSON
import InstrumentMonitor
import InstrumentWatch
import Testing

@Suite("Alerts of the monitor")
struct AlertTests {
    @Test("An alert fires once its condition has held for its delay, and is resolved afterwards, with one message each")
    func lifecycle() throws {
        let down = try alert("down", "up == 0", for: .seconds(60))
        var drive = Drive(
            configuration([try stream("a")], [down]),
            ["a": .fails(after: .seconds(1), code: "httpStatus")]
        )
        drive.run(for: .seconds(55))
        #expect(drive.messages.isEmpty)
        #expect(drive.model.alerts.map(\.isFiring) == [false])
        drive.run(for: .seconds(40))
        #expect(drive.messages.count == 1)
        let message = try #require(drive.messages.first)
        #expect(message.isFiring)
        #expect(message.items.map(\.stream) == ["a"])
        #expect(message.reason == "httpStatus")
        #expect(message.condition == "up == 0")
        #expect(message.json["status"]?.string == "firing")
        #expect(message.items.first?.events.contains { $0.text.contains("httpStatus") } == true)
        drive.run(for: .seconds(600))
        #expect(drive.messages.count == 1)
        drive.behaviours["a"] = .plays
        drive.run(for: .seconds(600))
        #expect(drive.messages.map(\.isFiring) == [true, false])
        #expect(drive.model.alerts.isEmpty)
    }

    @Test("A condition that holds for less than the delay sends nothing")
    func short() throws {
        let stalls = try alert("stalls", "rebuffer_ratio > 50% over 30s", for: .seconds(120))
        var drive = Drive(configuration([try stream("a")], [stalls]))
        drive.run(for: .seconds(60))
        drive.emit(.bufferBegin, "a")
        drive.run(for: .seconds(60))
        drive.emit(.bufferFinish, "a")
        drive.run(for: .seconds(300))
        #expect(drive.messages.isEmpty)
    }

    @Test("The share of stalls over a window rises and falls with the window")
    func window() throws {
        let stalls = try alert("stalls", "rebuffer_ratio > 20% over 1m")
        var drive = Drive(configuration([try stream("a")], [stalls]))
        drive.run(for: .seconds(120))
        drive.emit(.bufferBegin, "a")
        drive.run(for: .seconds(9))
        #expect(drive.model.alerts.isEmpty)
        drive.run(for: .seconds(16))
        drive.emit(.bufferFinish, "a")
        #expect(drive.model.alerts.map(\.isFiring) == [true])
        drive.run(for: .seconds(200))
        #expect(drive.messages.map(\.isFiring) == [true, false])
    }

    @Test("Fifty streams of one host that fail for the same reason give one message, another host another one")
    func grouping() throws {
        let down = try alert("down", "up == 0", for: .seconds(30))
        let streams = try (0..<50).map { try stream("s\($0)") } + [try stream("other", host: "elsewhere.example")]
        let failing = Dictionary(
            uniqueKeysWithValues: streams.map {
                ($0.name, Drive.Behaviour.fails(after: .seconds(1), code: "httpStatus"))
            }
        )
        var drive = Drive(configuration(streams, [down]), failing)
        drive.run(for: .seconds(300))
        #expect(drive.messages.map(\.streamCount).sorted() == [1, 50])
        for name in failing.keys { drive.behaviours[name] = .plays }
        drive.run(for: .seconds(900))
        let resolved = drive.messages.filter { !$0.isFiring }
        #expect(resolved.reduce(0) { $0 + $1.streamCount } == 51)
        // Streams return at different times, because their back-off has a jitter: one message for each incident.
        #expect(resolved.count == 2)
    }

    @Test("An alert with another condition to stay does not flap around its threshold")
    func hysteresis() throws {
        var low = try alert("low", "bitrate < 800k")
        low.keepWhile = try AlertExpression("bitrate < 1000k")
        var drive = Drive(configuration([try stream("a")], [low]))
        drive.run(for: .seconds(5))
        for round in 0..<20 {
            drive.send(.gauges(PlaybackGauges(bitrate: round % 2 == 0 ? 700_000 : 900_000)), to: "a")
            drive.run(for: .seconds(60))
        }
        #expect(drive.messages.map(\.isFiring) == [true])
        drive.send(.gauges(PlaybackGauges(bitrate: 1_100_000)), to: "a")
        drive.run(for: .seconds(60))
        #expect(drive.messages.map(\.isFiring) == [true, false])
    }

    @Test("A stream that flaps sends few messages")
    func flapping() throws {
        let low = try alert("low", "bitrate < 800k")
        var drive = Drive(configuration([try stream("a")], [low]))
        drive.run(for: .seconds(5))
        for round in 0..<40 {
            drive.send(.gauges(PlaybackGauges(bitrate: round % 2 == 0 ? 700_000 : 900_000)), to: "a")
            drive.run(for: .seconds(60))
        }
        #expect(drive.messages.count <= 8, "\(drive.messages.count) messages")
        drive.run(for: .seconds(1_800))
        #expect(drive.messages.last?.isFiring == false)
    }

    @Test("A stream that flaps is still quiet for 15 minutes before its alert is resolved if the monitor restarts")
    func flappingOverRestart() throws {
        let low = try alert("low", "bitrate < 800k")
        let streams = configuration([try stream("a")], [low])
        var first = Drive(streams)
        first.run(for: .seconds(5))
        for round in 0..<8 {
            first.send(.gauges(PlaybackGauges(bitrate: round % 2 == 0 ? 700_000 : 900_000)), to: "a")
            first.run(for: .seconds(60))
        }
        let saved = try #require(SavedMonitor(first.saved.bytes))
        var second = Drive(streams, at: 500_000, restoring: saved)
        for minute in 1...20 {
            second.run(for: .seconds(30))
            second.send(.gauges(PlaybackGauges(bitrate: 900_000)), to: "a")
            second.run(for: .seconds(30))
            if minute == 14 { #expect(second.messages.isEmpty) }
        }
        #expect(second.messages.map(\.isFiring) == [false])
    }

    @Test(
        "A condition that does not hold decides, whichever condition of `and` is unknown",
        arguments: ["latency_seconds > 1s and up == 0", "up == 0 and latency_seconds > 1s"]
    )
    func order(_ condition: String) throws {
        // `latency_seconds` is never known: the stream is not live.
        let both = try alert("both", condition)
        var drive = Drive(configuration([try stream("a")], [both]))
        drive.run(for: .seconds(20))
        drive.emit(.ping, "a", ["liveLatency": 9_000])
        drive.emit(.error, "a", ["errorCode": "x", "isFatal": true])
        drive.run(for: .seconds(20))
        #expect(drive.model.alerts.map(\.isFiring) == [true])
        // The next session is up, and has no latency: the alert is resolved, although one value is unknown.
        drive.send(.ended(.failed(code: "x", message: "m")), to: "a")
        drive.run(for: .seconds(60))
        #expect(drive.messages.map(\.isFiring) == [true, false])
    }

    @Test("A value that is unknown between two sessions neither ends a delay nor resolves an alert")
    func unknownBetweenSessions() throws {
        let low = try alert("low", "bitrate < 800k", for: .seconds(150))
        let schedule = WatchedStream.Schedule.sampled(every: .seconds(60), for: .seconds(30))
        var drive = Drive(configuration([try stream("a", schedule)], [low]))
        for _ in 0..<60 {
            drive.run(for: .seconds(5))
            drive.send(.gauges(PlaybackGauges(bitrate: 700_000)), to: "a")
        }
        #expect(drive.messages.map(\.isFiring) == [true])
    }

    @Test("A condition does not hold once a value has been unknown for a quarter of an hour")
    func unknownForLong() throws {
        let (low, slow) = (try alert("low", "bitrate < 800k"), try alert("slow", "bitrate < 800k", for: .seconds(60)))
        var drive = Drive(configuration([try stream("a")], [low, slow]))
        drive.run(for: .seconds(5))
        drive.send(.gauges(PlaybackGauges(bitrate: 700_000)), to: "a")
        drive.run(for: .seconds(30))
        drive.behaviours["a"] = .staysBlank
        drive.send(.ended(.failed(code: "x", message: "m")), to: "a")
        drive.run(for: .seconds(850))
        #expect(drive.model.alerts.map(\.alert) == ["low", "slow"])
        drive.run(for: .seconds(150))
        #expect(drive.model.alerts.isEmpty)
        #expect(drive.messages.map { "\($0.alert) \($0.isFiring)" } == ["low true", "low false"])
    }

    @Test("A stall in the first seconds of watching is no share of stalls, and one that lasts is")
    func earlyStall() throws {
        let stalls = try alert("stalls", "rebuffer_ratio > 2% over 5m")
        var drive = Drive(configuration([try stream("a")], [stalls]))
        drive.run(for: .seconds(3))
        drive.emit(.bufferBegin, "a")
        drive.run(for: .seconds(1))
        drive.emit(.bufferFinish, "a")
        drive.run(for: .seconds(290))
        #expect(drive.messages.isEmpty && drive.model.alerts.isEmpty)
        var lasting = Drive(configuration([try stream("a")], [stalls]))
        lasting.run(for: .seconds(3))
        lasting.emit(.bufferBegin, "a")
        lasting.run(for: .seconds(50))
        #expect(lasting.model.alerts.isEmpty)
        lasting.run(for: .seconds(20))
        #expect(lasting.model.alerts.map(\.isFiring) == [true])
    }

    @Test("A stream that plays little of the window still has a share of stalls")
    func sampledShare() throws {
        let stalls = try alert("stalls", "rebuffer_ratio > 2% over 5m")
        let schedule = WatchedStream.Schedule.sampled(every: .seconds(300), for: .seconds(10))
        var drive = Drive(configuration([try stream("a", schedule)], [stalls]))
        drive.run(for: .seconds(3))
        drive.emit(.bufferBegin, "a")
        drive.run(for: .seconds(2))
        drive.emit(.bufferFinish, "a")
        drive.run(for: .seconds(30))
        #expect(drive.messages.map(\.isFiring) == [true])
    }

    @Test("A failed request among a few is no share of errors; when all requests fail, the share is known at once")
    func fewRequests() throws {
        let errors = try alert("errors", "error_ratio > 5% over 5m")
        func fires(_ results: [Bool]) throws -> Bool {
            var drive = Drive(configuration([try stream("a")], [errors]))
            drive.run(for: .seconds(2))
            for isFailure in results {
                let request = RequestObservation(
                    kind: "segment",
                    status: isFailure ? 503 : 200,
                    isFailure: isFailure,
                    total: .seconds(1),
                    byteCount: 1
                )
                drive.send(.request(request), to: "a")
            }
            drive.run(for: .seconds(10))
            return drive.model.alerts.contains(where: \.isFiring)
        }
        #expect(try !fires([true, false, false]))
        #expect(try fires([true, true]))
        #expect(try fires([true] + Array(repeating: false, count: 9)))
        #expect(try !fires([true] + Array(repeating: false, count: 24)))
    }

    @Test("Labels select the streams of an alert, and a rule selects its check")
    func labels() throws {
        let black = try alert("black", "check_failed{rule=\"black\", channel=\"news\"} > 0")
        let streams = [try stream("a", labels: ["channel": "news"]), try stream("b", labels: ["channel": "sport"])]
        var drive = Drive(configuration(streams, [black]))
        drive.run(for: .seconds(30))
        for name in ["a", "b"] {
            drive.send(.checked(CheckObservation(broken: [.init(rule: "silence", message: "s")])), to: name)
        }
        drive.run(for: .seconds(30))
        #expect(drive.messages.isEmpty)
        for name in ["a", "b"] {
            drive.send(.checked(CheckObservation(broken: [.init(rule: "black", message: "b")])), to: name)
        }
        drive.run(for: .seconds(30))
        #expect(drive.messages.map { $0.items.map(\.stream) } == [["a"]])
    }

    @Test("The host of a stream selects it as its labels do, and a label of this name comes first")
    func hostOfCondition() throws {
        let down = try alert("down", "up{host=\"one.example\"} == 0")
        let streams = [
            try stream("a", host: "one.example"), try stream("b", host: "two.example"),
            try stream("c", host: "one.example", labels: ["host": "rack-7"]),
        ]
        #expect(streams.map { down.concerns($0) } == [true, false, false])
    }

    @Test("A restart sends no message twice, and continues a delay")
    func restart() throws {
        let down = try alert("down", "up == 0", for: .seconds(60))
        let failing = Drive.Behaviour.fails(after: .seconds(1), code: "httpStatus")
        let streams = configuration([try stream("a"), try stream("b")], [down])
        var first = Drive(streams, ["a": failing])
        first.run(for: .seconds(100))
        #expect(first.messages.count == 1)
        first.behaviours["b"] = failing
        first.send(.ended(.failed(code: "httpStatus", message: "x")), to: "b")
        first.run(for: .seconds(20))
        let bytes = first.saved.bytes
        let saved = try #require(SavedMonitor(bytes))
        // Another process, a minute later, with another monotonic clock.
        var second = Drive(streams, ["a": failing, "b": failing], at: 180_000, restoring: saved)
        // Twenty seconds have passed towards the sixty; the minute in which no process ran does not count.
        second.run(for: .seconds(35))
        #expect(second.messages.isEmpty)
        second.run(for: .seconds(25))
        #expect(second.model.alerts.map(\.isFiring) == [true, true])
        // The other stream joins the incident, and its receivers learn that after the interval of the group.
        second.run(for: .seconds(240))
        #expect(second.messages.map(\.kind) == [.changes])
        #expect(second.messages.map { $0.items.map(\.stream) } == [["a", "b"]])
        second.behaviours = [:]
        second.run(for: .seconds(900))
        let resolved = second.messages.filter { !$0.isFiring }.flatMap { $0.items.map(\.stream) }
        #expect(resolved.sorted() == ["a", "b"])
        #expect(second.messages.count { $0.isFiring } == 1)
    }

    @Test("A message that may have been sent before a crash has the same identifier afterwards")
    func identifier() throws {
        let down = try alert("down", "up == 0")
        let failing = Drive.Behaviour.fails(after: .seconds(1), code: "httpStatus")
        let streams = configuration([try stream("a")], [down])
        var first = Drive(streams, ["a": failing])
        first.run(for: .seconds(9))
        #expect(first.messages.isEmpty)
        let saved = try #require(SavedMonitor(first.saved.bytes))
        first.run(for: .seconds(30))
        var second = Drive(streams, ["a": failing], at: 20_000, restoring: saved)
        second.run(for: .seconds(30))
        let (one, other) = (try #require(first.messages.first), try #require(second.messages.first))
        #expect(one.id == other.id)
        #expect(one.id.utf8.count == 32)
    }

    @Test(
        "A state file of another form is refused, whatever it holds",
        arguments: [
            "", "{}", "[]", "{\"version\":2}", "{\"version\":1,\"saved\":\"x\",\"alerts\":[],\"failures\":{}}",
            "{\"version\":1,\"saved\":1,\"alerts\":{},\"failures\":{}}",
        ]
    )
    func damaged(_ text: String) { #expect(SavedMonitor(Array(text.utf8)) == nil) }

    @Test("The model removes an alert with its stream, and says that it is resolved")
    func removal() throws {
        let down = try alert("down", "up == 0")
        var drive = Drive(configuration([try stream("a")], [down]), ["a": .fails(after: .seconds(1), code: "x")])
        drive.run(for: .seconds(60))
        drive.reload(configuration([try stream("b")], [down]))
        drive.run(for: .seconds(60))
        #expect(drive.messages.map(\.isFiring) == [true, false])
        // Nobody should believe that the stream plays again.
        let log = drive.model.book.incidents.values.flatMap { $0.log.map(\.text) }
        #expect(log.contains("a is no longer watched") && !log.contains("a recovers"), "\(log)")
    }

    @Test("An alert ends with the reload whose labels no longer select the stream")
    func relabelled() throws {
        let down = try alert("down", "up{channel=\"news\"} == 0")
        let failing = Drive.Behaviour.fails(after: .seconds(1), code: "x")
        var drive = Drive(configuration([try stream("a", labels: ["channel": "news"])], [down]), ["a": failing])
        drive.run(for: .seconds(60))
        #expect(drive.model.alerts.map(\.isFiring) == [true])
        drive.reload(configuration([try stream("a", labels: ["channel": "sport"])], [down]))
        drive.run(for: .seconds(60))
        #expect(drive.model.alerts.isEmpty)
        #expect(drive.messages.map(\.isFiring) == [true, false])
    }

    @Test("The signature is HMAC-SHA256 (RFC 4231, test cases 1, 2 and 6)")
    func signature() {
        let cases: [([UInt8], String, String)] = [
            (
                [UInt8](repeating: 0x0b, count: 20), "Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xaa, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ]
        for (key, text, code) in cases {
            #expect(MessageSignature.header(Array(text.utf8), key: key) == "sha256=" + code)
        }
    }

    @Test("Every metric that a condition may name has a value for a stream that plays")
    func metrics() throws {
        let names = AlertMetric.allCases.map(\.rawValue).sorted()
        let alerts =
            try names.map { try alert($0, "\($0) >= 0") }
            + names.map { try alert($0 + "-window", "\($0) >= 0 over 10m") }
        var drive = Drive(configuration([try stream("a")], alerts))
        drive.run(for: .seconds(2))
        let request = RequestObservation(
            kind: "segment",
            status: 200,
            isFailure: false,
            total: .seconds(1),
            byteCount: 9
        )
        for _ in 0..<30 {
            drive.emit(.ping, "a", ["bitrate": 800_000, "liveLatency": 4_000])
            drive.send(.gauges(PlaybackGauges(bitrate: 800_000, buffered: .seconds(9))), to: "a")
            drive.send(.request(request), to: "a")
            let age = CheckObservation(playlistAge: .seconds(1), targetDuration: .seconds(2), loudness: 0.5)
            drive.send(.checked(age), to: "a")
            drive.run(for: .seconds(5))
        }
        #expect(Set(drive.model.alerts.filter(\.isFiring).map(\.alert)) == Set(alerts.map(\.name)))
    }
}
