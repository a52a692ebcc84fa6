import Instrument
import InstrumentCMCD
import InstrumentCMCDBackend
import InstrumentHTTP
import InstrumentTestKit
import Testing

@Suite("CMCD backend")
struct CMCDBackendTests {
    private static let idKey: CMCDKey = "org.example-id"

    private func backend(
        _ transport: ScriptedTransport,
        _ mapping: CMCDMapping = CMCDMapping()
    ) throws -> CMCDBackend {
        let configuration = CMCDConfiguration { record in
            var report = mapping(record)
            report?[Self.idKey] = .string(record.id.description)
            return report
        }
        let url = try HTTPURL("https://collector.example/cmcd?key=1")
        return try CMCDBackend(url, configuration: configuration, transport: transport, clock: VirtualClock())
    }

    private func event(_ action: Action, _ session: String = "session-1", _ attributes: Attributes = [:]) -> Sample {
        var all: Attributes = ["playbackId": .string(session), "inPlaybackBlock": true]
        all.merge(attributes)
        return Samples.event(action, all)
    }

    private func text(_ sample: Sample) -> String? { CMCDMapping()(Samples.record(sample))?.text }

    @Test(
        "An action becomes its event",
        arguments: [
            (Action.streamLoad, [:], "e=ps,sid=\"s\",sta=s"),
            (.start, ["timeSinceMediaRequest": 850], "e=ps,msd=850,sid=\"s\",sta=p"),
            (.start, ["timeSinceMediaRequest": 850, "joinedLate": true], "e=ps,sid=\"s\",sta=p"),
            (.bufferBegin, [:], "bs,e=ps,sid=\"s\",sta=r"), (.bufferBegin, ["inSeekBlock": true], nil),
            (.bufferBegin, ["inPlaybackBlock": false], nil),
            (.bufferFinish, ["timeSinceBufferBegin": 320], "bsd=(320),e=ps,sid=\"s\",sta=p"),
            (.seekBegin, [:], "e=ps,sid=\"s\",sta=k"), (.seekFinish, ["inPauseBlock": true], "e=ps,sid=\"s\",sta=a"),
            (.pauseBegin, [:], "e=ps,sid=\"s\",sta=a"), (.pauseFinish, [:], "e=ps,sid=\"s\",sta=p"),
            (.end, [:], "e=ps,sid=\"s\",sta=e"),
            (.stop, [:], "e=ps,sid=\"s\",sta=q"), (.next, [:], "e=ps,sid=\"s\",sta=q"),
            (.error, ["errorDescription": "gone \"x\""], #"e=e,ec=("gone \"x\""),sid="s",sta=p"#),
            (.error, ["errorDescription": "dead", "isFatal": true], #"e=ps,ec=("dead"),sid="s",sta=f"#),
            (.qualityChangeUp, ["bitrate": 1_503_415], "br=(1503),e=bc,sid=\"s\",sta=p"),
            (.qualityChangeDown, [:], nil),
            (.adBreakBegin, [:], "e=abs,sid=\"s\",sta=p"), (.adBreakFinish, [:], "e=abe,sid=\"s\",sta=p"),
            (.adBegin, [:], "e=as,sid=\"s\",sta=p"),
            (.adFinish, [:], "e=ae,sid=\"s\",sta=p"), (.adSkip, [:], "e=sk,sid=\"s\",sta=p"),
            (
                .ping, ["inBufferBlock": true, "position": 12_000, "source": "https://a.example/x.m3u8?token=1"],
                #"cid="https://a.example/x.m3u8",e=t,pt=12000,sf=h,sid="s",sta=r"#
            ),
            // The playhead of a live stream is a calendar time, which no event has.
            (
                .ping, ["position": 12_000, "liveLatency": 3400, "source": "https://a.example/x.mpd"],
                #"cid="https://a.example/x.mpd",e=t,ltc=3400,sf=d,sid="s",st=l,sta=p"#
            ),
            (.mediaResponse, ["responseUrl": "https://a/1.ts"], #"e=rr,rc=0,sid="s",sta=p,url="https://a/1.ts""#),
            (.ping, ["isAdsTracker": true], nil), (Action("AppBackground"), [:], "bg,e=b,sid=\"s\",sta=p"),
            (Action("AppForeground"), [:], "bg=?0,e=b,sid=\"s\",sta=p"), (.playerReady, [:], nil),
            (
                .mediaResponse,
                [
                    "responseUrl": "https://a/1.ts", "responseStatus": 200, "timeToFirstByte": 12, "timeToLastByte": 40,
                    "responseObjectType": "v",
                ],
                #"e=rr,ot=v,rc=200,sid="s",sta=p,ttfb=12,ttlb=40,url="https://a/1.ts""#
            ),
        ] as [(Action, Attributes, String?)]
    )
    func mapping(action: Action, attributes: Attributes, expected: String?) throws {
        let report = text(event(action, "s", attributes))
        #expect(report?.replacing(",ts=1767225600000", with: "").replacing(",v=2", with: "") == expected)
        guard let report else { return }
        var validator = CMCDValidator()
        #expect(validator.findings(inEvent: report) == [])
    }

    @Test("A source that is too long becomes its digest, and attributes become custom keys")
    func identity() throws {
        let long = "https://a.example/" + String(repeating: "x", count: 200)
        let report = try #require(CMCDMapping()(Samples.record(event(.ping, "s", ["source": .string(long)]))))
        guard case .string(let digest)? = report[.contentID] else { throw Unexpected("") }
        #expect(digest.utf8.count == 64)
        let mapping = CMCDMapping(customKeys: ["title": "com.example-title", "list": "com.example-list"])
        let custom = mapping(Samples.record(event(.ping, "s", ["title": "A film", "list": [1]])))
        #expect(custom?["com.example-title"] == .string("A film") && custom?["com.example-list"] == nil)
        // Custom keys have strings and tokens alone, of at most 64 characters.
        let keys: [AttributeName: CMCDKey] = ["a": "x-a", "b": "x-b", "c": "x-c", "d": "x-d"]
        let attributes: Attributes = ["a": 7, "b": true, "c": 1.5, "d": .string(String(repeating: "y", count: 99))]
        let values = try #require(CMCDMapping(customKeys: keys)(Samples.record(event(.ping, "s", attributes))))
        #expect(values["x-a"] == .string("7") && values["x-b"] == .token("true") && values["x-c"] == .string("1.5"))
        var validator = CMCDValidator()
        #expect(validator.findings(inEvent: values.text) == [])
    }

    @Test("Stream and labels of a monitor are sent under the custom keys that name them, and never without")
    func monitor() {
        let sample = event(.ping, "s", Samples.stream("news"))
        #expect(text(sample) == "e=t,sid=\"s\",sta=p,ts=1767225600000,v=2")
        let mapping = CMCDMapping(customKeys: ["monitorStream": "com.example-stream", "cdn": "com.example-cdn"])
        let report = mapping(Samples.record(sample))
        #expect(report?["com.example-stream"] == .string("news") && report?["com.example-cdn"] == .string("alpha"))
    }

    @Test("A batch is one POST of records that are separated by line feeds, numbered for each session")
    func request() async throws {
        let transport = ScriptedTransport(status: 204)
        let samples = [
            event(.streamLoad, "a"), event(.streamLoad, "b"), event(.start, "a"), Samples.metric(.numPlays, 1),
            event(.ping, "b"),
        ]
        let backend = try backend(transport)
        #expect(await backend.deliver(Batch(records: Samples.records(samples))) == .acknowledged)
        let request = try #require(transport.requests.first)
        #expect(request.headers["Content-Type"] == "application/cmcd" && request.headers["Content-Encoding"] == nil)
        #expect(request.url.secretText == "https://collector.example/cmcd?key=1")
        #expect(numbers(transport.bodies[0]) == ["a 0", "b 0", "a 1", "b 1"])
        #expect(!transport.bodies[0].hasSuffix("\n"))
        let next = [Samples.record(event(.end, "a"), 9)]
        #expect(await backend.deliver(Batch(records: next)) == .acknowledged)
        #expect(numbers(transport.bodies[1]) == ["a 2"])
        var validator = CMCDValidator()
        for line in transport.bodies.flatMap({ $0.split(separator: "\n") }) {
            #expect(validator.findings(inEvent: String(line)) == [])
        }
    }

    private func numbers(_ body: String) -> [String] {
        body.split(separator: "\n").compactMap { line in
            guard let report = CMCDReport(String(line)), case .string(let session)? = report[.sessionID],
                case .integer(let number)? = report[.sequenceNumber]
            else { return nil }
            return "\(session) \(number)"
        }
    }

    /// An event of a sender at an instant in milliseconds.
    private func event(_ action: Action, of sender: String, at instant: Int, _ attributes: Attributes) -> Sample {
        let sample = Samples.event(action, attributes)
        guard case .event(var event) = sample else { return sample }
        event[.senderId] = sender
        event.time.instant = MonotonicInstant(nanoseconds: Int64(instant) * 1_000_000)
        return .event(event)
    }

    private func content(_ action: Action, _ session: String, at instant: Int, _ more: Attributes = [:]) -> Sample {
        var all: Attributes = ["playbackId": .string(session), "source": "https://a.example/x.mpd"]
        all.merge(more)
        return event(action, of: "i-0", at: instant, all)
    }

    private func ad(_ action: Action, at instant: Int) -> Sample {
        event(action, of: "i-1", at: instant, ["isAdsTracker": true, "contentSenderId": "i-0"])
    }

    /// CTA-5004-B, Table 1: `sid` is that of the session with its interstitial content, and `msd` ends with the first
    /// media, primary or interstitial.
    @Test("Ads report in the session of their content, and the start delay ends with the first media, in each attempt")
    func adsOfContent() async throws {
        let statuses = Lock([204, 500, 204, 204])
        let transport = ScriptedTransport { _ in (statuses.withLock { $0.removeFirst() }, [:], "") }
        let backend = try backend(transport)
        let begin = [content(.mediaRequest, "s1", at: 0), content(.streamLoad, "s1", at: 100)]
        #expect(await backend.deliver(Batch(records: Samples.records(begin))) == .acknowledged)
        let samples = [
            ad(.adBreakBegin, at: 300), ad(.adBegin, at: 750), ad(.adFinish, at: 5_000), ad(.adBegin, at: 5_100),
            ad(.adBreakFinish, at: 9_000), content(.start, "s1", at: 9_500, ["timeSinceMediaRequest": 9_500]),
            content(.end, "s1", at: 20_000), content(.mediaRequest, "s2", at: 30_000),
            content(.streamLoad, "s2", at: 30_050),
            ad(.adBreakBegin, at: 30_100), ad(.adBreakFinish, at: 30_200),
            content(.start, "s2", at: 31_000, ["timeSinceMediaRequest": 1_000]), ad(.adBegin, at: 40_000),
        ]
        let batch = Batch(records: samples.enumerated().map { Samples.record($0.element, UInt64($0.offset) + 10) })
        guard case .retry = await backend.deliver(batch) else { throw Unexpected("the first attempt must fail") }
        #expect(await backend.deliver(batch) == .acknowledged)
        #expect(transport.bodies[1] == transport.bodies[2])
        let reports = transport.bodies[2].split(separator: "\n").compactMap { CMCDReport(String($0)) }
        try #require(reports.count == 12)
        #expect(reports.prefix(7).allSatisfy { $0[.sessionID] == .string("s1") })
        #expect(reports.dropFirst(7).allSatisfy { $0[.sessionID] == .string("s2") })
        #expect(reports.allSatisfy { $0[.contentID] == .string("https://a.example/x.mpd") })
        let delays = reports.map { $0[.startDelay] }
        #expect(delays == [nil, .integer(750)] + Array(repeating: nil, count: 8) + [.integer(1_000), nil])
        #expect(reports.map { $0[.sequenceNumber] }.prefix(3) == [.integer(1), .integer(2), .integer(3)])
        // Nothing is known of a content that began in an earlier process.
        let other = try self.backend(transport)
        #expect(await other.deliver(Batch(records: [Samples.record(ad(.adBegin, at: 1), 90)])) == .acknowledged)
        let lone = try #require(CMCDReport(transport.bodies[3]))
        #expect(lone[.sessionID] == .string("i-1") && lone[.startDelay] == nil)
    }

    @Test("Events of a playback have the session of its requests, pings and ads, too")
    func oneSession() async throws {
        let transport = ScriptedTransport(status: 204)
        let backend = try backend(transport)
        let samples = [
            content(.mediaRequest, "p", at: 0, ["requestSessionId": "r"]), ad(.adBegin, at: 10),
            content(.start, "p", at: 20, ["requestSessionId": "r"]), content(.ping, "p", at: 30),
            content(.streamLoad, "q", at: 40), content(.ping, "q", at: 50),
        ]
        #expect(await backend.deliver(Batch(records: Samples.records(samples))) == .acknowledged)
        #expect(numbers(transport.bodies[0]) == ["r 0", "r 1", "r 2", "q 0", "q 1"])
    }

    @Test("A repeated attempt has the same bytes, and a session of an earlier process continues above all its numbers")
    func repeatedAttempts() async throws {
        let statuses = Lock([500, 429, 200, 200])
        let transport = ScriptedTransport { _ in (statuses.withLock { $0.removeFirst() }, ["Retry-After": "3"], "") }
        let backend = try backend(transport)
        let batch = Batch(records: [Samples.record(event(.start), 17), Samples.record(event(.ping), 18)])
        #expect(await backend.deliver(batch) == .retry(after: .seconds(3), reason: "HTTP 500"))
        #expect(await backend.deliver(batch) == .retry(after: .seconds(3), reason: "HTTP 429"))
        #expect(await backend.deliver(batch) == .acknowledged)
        #expect(Set(transport.bodies).count == 1)
        #expect(numbers(transport.bodies[0]) == ["session-1 17", "session-1 18"])
        _ = await backend.deliver(Batch(records: [Samples.record(event(.end), 30)]))
        #expect(numbers(transport.bodies[3]) == ["session-1 19"])
    }

    @Test("Numbers begin at 0 with the request for playback, also if a response is the first report")
    func firstReport() async throws {
        let transport = ScriptedTransport(status: 200)
        let backend = try backend(transport)
        let response: Attributes = ["responseUrl": "https://a/master.m3u8", "timeSinceMediaRequest": 5]
        let samples = [
            event(.playerReady, "a"), event(.mediaRequest, "a"), event(.mediaResponse, "a", response),
            event(.streamLoad, "a", ["timeSinceMediaRequest": 9]),
            event(.streamLoad, "b", ["timeSinceMediaRequest": 9]),
        ]
        // The request for playback has no report, and may be in an earlier batch.
        let records = Samples.records(samples)
        #expect(await backend.deliver(Batch(records: Array(records[..<2]))) == .acknowledged)
        #expect(await backend.deliver(Batch(records: Array(records[2...]))) == .acknowledged)
        // Session b was requested in an earlier process, which may have sent reports of it.
        #expect(transport.bodies.map(numbers) == [["a 0", "a 1", "b 4"]])
    }

    @Test(
        "A 410 ends its session alone: its samples are dead letters, those of others arrive, and no more is sent for it"
    )
    func gone() async throws {
        let transport = ScriptedTransport { request in
            (String(decoding: request.body, as: UTF8.self).contains("sid=\"b\"") ? 410 : 200, [:], "")
        }
        let backend = try backend(transport)
        let samples = [event(.streamLoad, "a"), event(.streamLoad, "b"), event(.start, "a"), event(.start, "b")]
        let reason = "HTTP 410: the collector wants no more reports of this session"
        let batch = Batch(records: Samples.records(samples))
        #expect(await backend.deliver(batch) == .acknowledgedExcept([Samples.id(1): reason, Samples.id(3): reason]))
        #expect(transport.requests.count == 3)
        #expect(numbers(transport.bodies[1]) == ["a 0", "a 1"])
        let later = Batch(records: [Samples.record(event(.end, "b"), 9), Samples.record(event(.end, "a"), 10)])
        #expect(await backend.deliver(later) == .acknowledgedExcept([Samples.id(9): reason]))
        #expect(numbers(transport.bodies[3]) == ["a 2"])
        let only = Batch(records: [Samples.record(event(.ping, "b"), 11)])
        #expect(await backend.deliver(only) == .acknowledgedExcept([Samples.id(11): reason]))
        #expect(transport.requests.count == 4)
    }

    @Test("A failure while the ended session is searched for sends accepted sessions only once")
    func goneAndBusy() async throws {
        let isBusy = Lock(true)
        let transport = ScriptedTransport { request in
            let body = String(decoding: request.body, as: UTF8.self)
            if body.contains("sid=\"b\"") { return (410, [:], "") }
            return (body.contains("sid=\"c\"") && isBusy.withLock { $0 } ? 503 : 200, [:], "")
        }
        let backend = try backend(transport)
        let samples = [event(.ping, "a"), event(.ping, "b"), event(.ping, "c")]
        let batch = Batch(records: Samples.records(samples))
        guard case .retry = await backend.deliver(batch) else { throw Unexpected("") }
        isBusy.withLock { $0 = false }
        guard case .acknowledgedExcept(let dead) = await backend.deliver(batch) else { throw Unexpected("") }
        #expect(Set(dead.keys) == [Samples.id(1)])
        #expect(transport.bodies.filter { $0.contains("sid=\"a\"") }.count == 2, "one with all sessions, one alone")
        #expect(transport.bodies.last.map(numbers) == ["c 2"])
    }

    @Test("The backend keeps the promises of the backend contract")
    func contract() async throws {
        let transport = ScriptedTransport(status: 200)
        try await BackendContract.check(samples: { generator in
            self.event(
                .ping,
                "session-\(generator.next() % 5)",
                ["title": RandomSamples.sample(&generator).attributes.first?.value ?? 1]
            )
        }) {
            try backend(transport, CMCDMapping(customKeys: ["title": "com.example-title"]))
        } arrived: {
            transport.bodies.flatMap { body in
                body.split(separator: "\n").compactMap { line -> SampleID? in
                    guard case .string(let id)? = CMCDReport(String(line))?[Self.idKey] else { return nil }
                    return SampleID(id)
                }
            }
        }
    }
}
