import Instrument
import InstrumentHTTP
import InstrumentJSON
import InstrumentMonitor
import InstrumentWatch
import Testing

extension Drive {
    /// Reports a request that ends now.
    mutating func request(
        _ address: String,
        _ status: Int? = 200,
        failure: RequestObservation.Failure? = nil,
        took total: Duration = .milliseconds(100),
        bytes: Int = 1_000
    ) {
        let kind =
            address.hasSuffix("master.m3u8") ? "manifest" : address.hasSuffix(".m3u8") ? "playlist" : "segment"
        let begin = Timestamp(
            instant: now.instant.advanced(by: .zero - total),
            wallTime: WallTime(milliseconds: now.wallTime.milliseconds - Int64(total / .milliseconds(1)))
        )
        let isFailure = failure != nil || status.map { !(200..<300).contains($0) } ?? true
        let request = RequestObservation(
            kind: kind,
            status: status,
            isFailure: isFailure,
            total: total,
            byteCount: bytes,
            failure: failure,
            address: "https://cdn-a.example/" + address,
            begin: begin,
            wait: .milliseconds(20)
        )
        send(.request(request), to: "a")
    }

    var state: StreamState? { model.stream(named: "a") }
    var cause: StreamCause? { state?.cause }
}

@Suite("The cause of a stream's trouble")
struct CauseTests {
    /// A stream that has played for ten seconds, with a playlist and a segment that succeeded.
    private func playing(_ change: (inout WatchedStream) -> Void = { _ in }) throws -> Drive {
        var watched = try stream("a")
        change(&watched)
        var drive = Drive(configuration([watched]))
        drive.run(for: .seconds(10))
        drive.request("v/live.m3u8")
        drive.request("v/1.ts")
        #expect(drive.state?.word == .playing)
        #expect(drive.cause == nil)
        return drive
    }

    /// What the player says of a presentation that begins after a time.
    private func announce(_ wait: Duration, in drive: inout Drive) {
        var attributes = Attributes()
        attributes[AttributeKey<String>("warningCode")] = "notBegun"
        attributes[AttributeKey<String>("warningDescription")] =
            "the presentation begins at 2026-01-01T01:00:00Z, and playback waits until then"
        attributes[AttributeKey<Duration>("presentationWait")] = wait
        drive.emit(Action("StreamWarning"), "a", attributes)
    }

    @Test(
        "A presentation that has not begun is no outage: the stream waits, no alert fires, and a session begins with it"
    )
    func notBegun() throws {
        let alerts = [try alert("down", "up == 0"), try alert("slow", "startup_seconds > 5")]
        var drive = Drive(configuration([try stream("a")], alerts), ["a": .staysBlank])
        drive.run(for: .seconds(1))
        announce(.seconds(1_799), in: &drive)
        var expected = StreamCause(.schedule, "Not begun", since: drive.now.wallTime)
        expected.text = "The presentation begins at 2026-01-01T01:00:00Z, and playback waits until then."
        #expect(drive.cause == expected && drive.state?.word == .waiting && drive.state?.isUp == nil)
        drive.run(for: .seconds(500))
        #expect(drive.starts.count == 1 && drive.stops.isEmpty)
        // Another session looks whether the beginning has changed; the stream waits meanwhile.
        drive.run(for: .seconds(101))
        #expect(drive.starts.count == 2 && drive.state?.word == .waiting)
        announce(.seconds(1_198), in: &drive)
        // A round of a check says the same, which is no finding.
        drive.send(.checked(CheckObservation(broken: [.init(rule: "nothing-to-play", message: "x")])), to: "a")
        #expect(drive.cause == expected && drive.state?.checks.isEmpty == true)
        drive.run(for: .seconds(620))
        announce(.seconds(577), in: &drive)
        // The session that begins with the presentation shows the time that viewers wait then.
        drive.behaviours["a"] = .plays
        drive.run(for: .seconds(600))
        #expect(drive.state?.word == .playing && drive.cause == nil)
        #expect(drive.state?.figures(at: drive.now.instant).startup == 500)
        #expect(drive.state?.failures == 0)
        #expect(drive.messages.isEmpty)
    }

    @Test(
        "A presentation that does not begin when it should is down, and one that begins early plays without a start time"
    )
    func announcedInVain() throws {
        var drive = Drive(configuration([try stream("a")], [try alert("down", "up == 0")]), ["a": .staysBlank])
        drive.run(for: .seconds(1))
        announce(.seconds(60), in: &drive)
        drive.run(for: .seconds(80))
        #expect(drive.state?.word == .starting && drive.cause == nil)
        drive.run(for: .seconds(20))
        #expect(drive.state?.word == .down)
        // An announcement ends an outage.
        announce(.seconds(3_600), in: &drive)
        #expect(drive.state?.word == .waiting)
        drive.run(for: .seconds(30))
        drive.emit(.start, "a")
        #expect(drive.state?.word == .playing && drive.state?.isUp == true)
        #expect(drive.state?.figures(at: drive.now.instant).startup == nil)
        // A failure counts, whatever was announced.
        announce(.seconds(3_600), in: &drive)
        drive.send(.ended(.failed(code: "notFound", message: "x")), to: "a")
        #expect(drive.state?.word == .down && drive.cause?.kind == .http)
    }

    @Test("A stream that has just shown pictures is down if it says that it begins later, and waits an hour later")
    func announcedAfterPictures() throws {
        var drive = try playing()
        drive.behaviours["a"] = .staysBlank
        drive.send(.ended(.failed(code: "connection", message: "x")), to: "a")
        drive.run(for: .seconds(30))
        #expect(drive.starts.count > 1)
        announce(.seconds(7_200), in: &drive)
        #expect(drive.state?.word == .down && drive.state?.isUp == false)
        #expect(drive.cause?.text.contains("the presentation begins at") == true, "\(drive.cause?.text ?? "")")
        drive.run(for: .seconds(3_600))
        announce(.seconds(3_600), in: &drive)
        #expect(drive.state?.word == .waiting && drive.cause?.kind == .schedule)
    }

    @Test("A proxy that cannot be reached is named in the cause, and another reason of the program is not repeated")
    func proxy() throws {
        for (code, failure, message, words) in [
            (
                "proxy", RequestObservation.Failure.proxy, "the proxy p.example:3128 cannot be reached: no; check it",
                "proxy: the proxy p.example:3128 cannot be reached"
            ),
            ("proxy", .proxy, "no tunnel through p.example; check it", "proxy: no tunnel through p.example"),
            ("connection", .connection, "the proxy is not to blame; try again later", "connection"),
        ] {
            var drive = try playing()
            for _ in 0..<2 {
                drive.run(for: .seconds(2))
                drive.request("v/live.m3u8", nil, failure: failure)
            }
            drive.send(.ended(.failed(code: code, message: message)), to: "a")
            let text = try #require(drive.cause?.text)
            #expect(text.contains("fail since ") && text.contains(" later (\(words)"), "\(text)")
            #expect(!text.contains("try again"))
        }
    }

    @Test("A playlist that answers 503 is the cause of the stall and of the error that follow, until the stream plays")
    func first() throws {
        var drive = try playing()
        let begin = drive.now.wallTime.milliseconds + 1_900
        drive.run(for: .seconds(2))
        drive.request("v/live.m3u8", 503)
        // One request that failed says nothing yet.
        #expect(drive.state?.word == .playing)
        drive.run(for: .seconds(2))
        drive.request("v/live.m3u8", 503)
        #expect(drive.state?.word == .impaired)
        var expected = StreamCause(.http, "503 Service Unavailable", since: WallTime(milliseconds: begin))
        (expected.status, expected.host, expected.resource) = (503, "cdn-a.example", .playlist)
        expected.address = "https://cdn-a.example/v/live.m3u8"
        expected.text = "Playlist requests to cdn-a.example fail since 00:00:11 UTC (503 Service Unavailable)."
        #expect(drive.cause == expected)
        drive.run(for: .seconds(7))
        drive.emit(.bufferBegin, "a")
        #expect(drive.state?.word == .stalled)
        expected.text.removeLast()
        expected.text += "; the buffer ran empty 9.1 s later."
        #expect(drive.cause == expected)
        drive.run(for: .seconds(20))
        drive.send(.ended(.failed(code: "stalePlaylist", message: "check whether the stream is on air")), to: "a")
        #expect(drive.state?.word == .down)
        expected.text.removeLast()
        expected.text += "; the session failed 29 s later (stalePlaylist)."
        #expect(drive.cause == expected)
        // Another session fails in the same way: the cause began with the first one.
        drive.behaviours["a"] = .staysBlank
        drive.run(for: .seconds(3))
        drive.request("master.m3u8")
        drive.request("v/live.m3u8", 503)
        drive.send(.ended(.failed(code: "httpStatus", message: "x")), to: "a")
        #expect(drive.cause == expected)
        drive.run(for: .seconds(5))
        drive.request("v/live.m3u8")
        // The server answers; viewers see no picture yet.
        #expect(drive.cause?.title == "503 Service Unavailable")
        drive.emit(.start, "a")
        #expect(drive.cause == nil)
        #expect(drive.state?.word == .playing)
    }

    @Test("A segment that is missing while the stream plays on is no cause, and the stream is up")
    func oneSegment() throws {
        var drive = try playing()
        for number in 2..<10 {
            drive.request("v/\(number).ts", number == 4 ? 404 : 200)
            drive.run(for: .seconds(4))
            #expect(drive.cause == nil)
            #expect(drive.state?.word == .playing)
        }
    }

    @Test("Successful requests of the sound's playlist do not end the failure of the pictures' playlist")
    func twoPlaylists() throws {
        var drive = try playing()
        let begin = drive.now.wallTime.milliseconds - 100
        for _ in 0..<20 {
            drive.request("v/live.m3u8", 404)
            drive.request("sound/live.m3u8")
            drive.run(for: .seconds(2))
        }
        #expect(drive.cause?.title == "404 Not Found")
        #expect(drive.cause?.since.milliseconds == begin)
    }

    @Test("A rendition that fails once it is tried is no cause of a later stall")
    func otherRendition() throws {
        var drive = try playing()
        drive.request("high/live.m3u8", 404)
        drive.request("v/live.m3u8")
        drive.run(for: .seconds(5))
        drive.emit(.bufferBegin, "a")
        drive.run(for: .seconds(5))
        #expect(drive.cause?.kind == .stalled)
        #expect(drive.cause?.host == nil)
    }

    @Test("A request that began before a stall and fails later is its cause")
    func hangs() throws {
        var drive = try playing()
        drive.run(for: .seconds(6))
        let stall = drive.now.wallTime
        drive.emit(.bufferBegin, "a")
        #expect(drive.cause?.kind == .stalled)
        #expect(drive.cause?.since == stall)
        drive.run(for: .seconds(4))
        drive.request("v/2.ts", nil, failure: .timedOut, took: .seconds(9), bytes: 0)
        #expect(drive.cause?.kind == .network)
        #expect(drive.cause?.title == "No answer in time")
        #expect(drive.cause.map { stall.milliseconds - $0.since.milliseconds } == 5_000)
        #expect(drive.cause?.text.hasSuffix("; the buffer ran empty 5.0 s later.") == true)
    }

    @Test("A request that fails once after a stall began is not its cause, and one that fails on is")
    func later() throws {
        var drive = try playing()
        drive.emit(.bufferBegin, "a")
        drive.run(for: .seconds(6))
        drive.request("v/live.m3u8", 503)
        #expect(drive.cause?.kind == .stalled)
        drive.run(for: .seconds(2))
        drive.request("v/live.m3u8", 503)
        #expect(drive.cause?.kind == .http)
    }

    @Test("Segments that arrive slower than they play are the cause of a stall, with their speed")
    func slow() throws {
        var drive = try playing()
        for buffered in [16_000, 14_000, 12_000, 10_000] {
            drive.send(.gauges(PlaybackGauges(buffered: .milliseconds(buffered))), to: "a")
            drive.run(for: .seconds(5))
            drive.request("v/\(buffered).ts", took: .seconds(4.8))
        }
        drive.run(for: .seconds(5))
        drive.request("v/9.ts", took: .seconds(4.8))
        drive.emit(.bufferBegin, "a")
        #expect(drive.cause?.kind == .stalled)
        #expect(drive.cause?.title == "Segments arrive too slowly")
        // 25 s of playing, of which 16 s were in the buffer before.
        #expect(drive.cause?.text == "Segments arrive at 0.4 × real time.")
        // Nothing more arrives, which is not another cause.
        drive.run(for: .seconds(40))
        #expect(drive.cause?.title == "Segments arrive too slowly")
        #expect(drive.state?.word == .down)
    }

    @Test("A stall without slow segments says that none arrived, and nothing of a speed")
    func nothing() throws {
        var drive = try playing()
        for buffered in [12_000, 7_000, 2_000] {
            drive.send(.gauges(PlaybackGauges(buffered: .milliseconds(buffered))), to: "a")
            drive.run(for: .seconds(5))
        }
        drive.emit(.bufferBegin, "a")
        #expect(drive.cause?.title == "Stalled")
        #expect(drive.cause?.text == "The buffer is empty; no segment has arrived for 15 s.")
    }

    @Test("A playlist that does not change is the cause of the stall that follows, unless its requests fail")
    func stale() throws {
        var drive = try playing { $0.checks.stale = 3 }
        drive.send(.checked(CheckObservation(playlistAge: .seconds(19), targetDuration: .seconds(6))), to: "a")
        #expect(drive.state?.word == .impaired)
        #expect(drive.cause?.kind == .stale)
        let changed = drive.now.wallTime.milliseconds - 19_000
        #expect(drive.cause?.since.milliseconds == changed)
        drive.run(for: .seconds(3))
        drive.emit(.bufferBegin, "a")
        #expect(drive.cause?.title == "Playlist does not change")
        #expect(drive.cause?.text.contains("the buffer ran empty 22 s later") == true)
        drive.request("v/live.m3u8", 503, took: .seconds(25))
        #expect(drive.cause?.kind == .http)
    }

    @Test("A playlist that should have changed while playback waits is stale before any limit of a check")
    func overdue() throws {
        var drive = try playing()
        drive.send(.checked(CheckObservation(playlistAge: .seconds(7), targetDuration: .seconds(6))), to: "a")
        drive.emit(.bufferBegin, "a")
        #expect(drive.cause?.kind == .stalled)
        drive.send(.checked(CheckObservation(playlistAge: .seconds(10), targetDuration: .seconds(6))), to: "a")
        #expect(drive.cause?.kind == .stale)
        #expect(drive.state?.checks.isEmpty == true)
    }

    @Test("While a server does not answer, its playlist is not said to stay the same")
    func unanswered() throws {
        var drive = try playing()
        drive.send(.checked(CheckObservation(playlistAge: .seconds(2), targetDuration: .seconds(6))), to: "a")
        drive.run(for: .seconds(20))
        drive.emit(.bufferBegin, "a")
        #expect(drive.cause?.kind == .stalled)
        drive.request("v/live.m3u8", nil, failure: .timedOut, took: .seconds(15), bytes: 0)
        #expect(drive.cause?.kind == .network)
    }

    @Test("A finding is a cause while the stream plays, what viewers see before a rule, and not that of a stall")
    func findings() throws {
        var drive = try playing()
        drive.send(.checked(CheckObservation(broken: [.init(rule: "hls-x", message: "r")])), to: "a")
        #expect(drive.cause?.title == "Rule hls-x is broken")
        #expect(drive.cause?.rule == "hls-x")
        drive.run(for: .seconds(5))
        let broken: [CheckObservation.Broken] = [
            .init(rule: "hls-x", message: "r"), .init(rule: "black", message: "b"),
        ]
        drive.send(.checked(CheckObservation(broken: broken)), to: "a")
        #expect(drive.cause?.kind == .check)
        #expect(drive.cause?.title == "Black picture")
        #expect(drive.state?.word == .impaired)
        drive.emit(.bufferBegin, "a")
        #expect(drive.cause?.kind == .stalled)
        drive.emit(.bufferFinish, "a")
        #expect(drive.cause?.title == "Black picture")
    }

    @Test("What a player and a check see of one outage is one incident; a black picture beside it is another")
    func oneOutage() throws {
        var drive = Drive(
            configuration(
                [try stream("a")],
                [
                    try alert("stalls", "rebuffer_seconds > 3s over 1m"),
                    try alert("unavailable", "check_failed{rule=\"manifest-unavailable\"} > 0"),
                    try alert("black", "check_failed{rule=\"black\"} > 0"), try alert("down", "up == 0"),
                ]
            )
        )
        drive.run(for: .seconds(10))
        drive.request("low.m3u8", nil, failure: .timedOut, bytes: 0)
        drive.emit(.bufferBegin, "a")
        drive.run(for: .seconds(15))
        let unavailable = CheckObservation.Broken(rule: "manifest-unavailable", message: "no answer within 10 s")
        drive.send(.checked(CheckObservation(broken: [unavailable])), to: "a")
        drive.run(for: .seconds(15))
        drive.send(.ended(.failed(code: "timedOut", message: "m")), to: "a")
        drive.run(for: .seconds(15))
        let incident = try #require(drive.model.book.open.first)
        #expect(drive.model.book.open.count == 1)
        #expect(incident.title == "Playlist: No answer in time")
        #expect(incident.log.contains { $0.text == "unavailable fires for a, as a part of this outage" })
        let black = CheckObservation.Broken(rule: "black", message: "b")
        drive.run(for: .seconds(60))
        drive.send(.checked(CheckObservation(broken: [unavailable, black])), to: "a")
        drive.run(for: .seconds(15))
        #expect(drive.model.book.open.map(\.title) == ["Playlist: No answer in time", "Black picture"])
    }

    @Test("A file that only a check misses is an incident with its own words")
    func onlyTheCheck() throws {
        let rule = try alert("unavailable", "check_failed{rule=\"segment-unavailable\"} > 0")
        var drive = Drive(configuration([try stream("a")], [rule]))
        drive.run(for: .seconds(10))
        let missing = CheckObservation.Broken(rule: "segment-unavailable", message: "status 404")
        drive.send(.checked(CheckObservation(broken: [missing])), to: "a")
        drive.run(for: .seconds(10))
        #expect(drive.model.book.open.map(\.title) == ["Segments cannot be fetched"])
    }

    @Test(
        "A failure before the first picture is named by its kind",
        arguments: [
            (RequestObservation.Failure.nameNotFound, StreamCause.Kind.network, "Host name is unknown"),
            (.connection, .network, "Connection fails"), (.tls, .network, "TLS connection fails"),
            (.timedOut, .network, "No answer in time"), (.content, .media, "Wrong content"),
            (.refused, .network, "Address is refused"), (.proxy, .network, "Proxy fails"),
        ]
    )
    func kinds(_ failure: RequestObservation.Failure, _ kind: StreamCause.Kind, _ title: String) throws {
        var drive = Drive(configuration([try stream("a")]), ["a": .staysBlank])
        drive.run(for: .seconds(1))
        drive.request("master.m3u8", nil, failure: failure, bytes: 0)
        drive.send(.ended(.failed(code: "connection", message: "m")), to: "a")
        #expect(drive.cause?.kind == kind)
        #expect(drive.cause?.title == title)
        #expect(drive.cause?.resource == .manifest)
        #expect(drive.state?.word == .down)
    }

    @Test(
        "Without a request that failed, the error of the session names the cause",
        arguments: [
            ("unsupportedFormat", StreamCause.Kind.media, "Media cannot be played"),
            ("httpStatus", .http, "Error status"), ("stalePlaylist", .stale, "Playlist does not change"),
            ("somethingNew", .stalled, "No picture"),
        ]
    )
    func errors(_ code: String, _ kind: StreamCause.Kind, _ title: String) throws {
        var drive = try playing()
        drive.send(.ended(.failed(code: code, message: "the message")), to: "a")
        #expect(drive.cause?.kind == kind)
        #expect(drive.cause?.title == title)
        #expect(drive.cause?.text.contains("the message") == true)
    }

    @Test("A request that the player cancelled is no failure")
    func cancelled() throws {
        var drive = try playing()
        for _ in 0..<5 { drive.request("v/2.ts", nil, failure: .cancelled) }
        drive.emit(.bufferBegin, "a")
        #expect(drive.cause?.kind == .stalled)
        #expect(drive.state?.totals(at: drive.now.instant).failedRequests == 0)
    }

    @Test("The beginning of a cause keeps the request as a command and the requests before it, without secrets")
    func evidence() throws {
        var drive = try playing()
        guard case .latest? = drive.documents.archive(of: "a") else { return #expect(Bool(false)) }
        for _ in 0..<2 { drive.request("v/it's.m3u8", 503) }
        for number in 0..<100 {
            drive.request("v/\(number).ts")
            drive.request("v/it's.m3u8", 503)
        }
        let entry = try #require(drive.kept.last)
        #expect(entry.text == "curl -sv -o /dev/null 'https://cdn-a.example/v/it%27s.m3u8'")
        #expect(drive.kept.count == 1 && entry.kind == .request)
        let kept = drive.documents.detail(of: "a")?["evidence"]
        guard case .array(let list)? = kept else { return #expect(Bool(false)) }
        #expect(list.first?["kind"]?.string == "request")
        #expect(list.first?["href"]?.string == "/api/evidence/" + entry.id)
        #expect(drive.documents.archive(of: "a") == .kept(id: entry.id))
        let archive = try JSONValue(parsing: try #require(drive.keptBytes[entry.id]))
        guard case .array(let entries)? = archive["log"]?["entries"] else { return #expect(Bool(false)) }
        // The playlist and the segment before, and the two failures.
        #expect(entries.map { $0["response"]?["status"]?.int } == [200, 200, 503, 503])
        #expect(entries.last?["response"]?["status"]?.int == 503)
        #expect(entries.last?["timings"]?["receive"]?.int == 80)
        #expect(entries.last?["startedDateTime"]?.string == "2026-01-01T00:00:09.900Z")
        #expect(drive.documents.archive(of: "other") == nil)
    }

    @Test("Addresses that never end keep the memory of failures small")
    func bounded() throws {
        var drive = try playing()
        for number in 0..<2_000 { drive.request("\(number)/live.m3u8", number % 2 == 0 ? 503 : 200) }
        drive.emit(.bufferBegin, "a")
        #expect(drive.cause != nil)
        drive.emit(.bufferFinish, "a")
        drive.run(for: .seconds(60))
        drive.request("v/live.m3u8")
        drive.run(for: .seconds(6))
        #expect(drive.cause == nil)
    }

    @Test("The row of a stream has the address without secrets, the cause, the bars of its minutes and the next try")
    func row() throws {
        var watched = try stream("a")
        watched.url = try HTTPURL("https://cdn-a.example/a/master.m3u8?token=secret")
        var drive = Drive(configuration([watched]))
        drive.run(for: .seconds(130))
        drive.emit(.bufferBegin, "a")
        drive.run(for: .seconds(10))
        drive.send(.ended(.failed(code: "connection", message: "m")), to: "a")
        drive.behaviours["a"] = .fails(after: .seconds(1), code: "connection")
        drive.run(for: .seconds(90))
        while drive.session(of: "a") != nil { drive.run(for: .seconds(0.1)) }
        let document = drive.documents.detail(of: "a")
        #expect(document?["address"]?.string == "https://cdn-a.example/a/master.m3u8")
        #expect(document?["state"]?.string == "down")
        #expect(document?["cause"]?["kind"]?.string == "network")
        #expect(document?["cause"]?["host"]?.string == "cdn-a.example")
        #expect(document?["stateSince"]?.string == "2026-01-01T00:02:20.000Z")
        #expect(document?["nextTry"]?.string?.hasPrefix("2026-01-01T00:0") == true)
        guard case .array(let bars)? = document?["bars"] else { return #expect(Bool(false)) }
        #expect(bars.count == 30)
        #expect(bars.suffix(4).compactMap(\.int) == [1, 1, 3, 3])
        #expect(bars.first?.int == 0)
    }
}

@Suite("Down by experience, and retries")
struct DownTests {
    @Test("A session that stalls for its time counts as down, is replaced after another half minute, and is up again")
    func stalled() throws {
        let down = try alert("down", "up == 0")
        var drive = Drive(configuration([try stream("a")], [down]))
        drive.run(for: .seconds(10))
        drive.emit(.bufferBegin, "a")
        drive.run(for: .seconds(29))
        #expect(drive.state?.isUp == true)
        #expect(drive.state?.word == .stalled)
        drive.run(for: .seconds(2))
        #expect(drive.state?.isUp == false)
        #expect(drive.state?.word == .down)
        drive.run(for: .seconds(15))
        #expect(drive.model.alerts.map(\.isFiring) == [true])
        #expect(drive.starts.count == 1)
        drive.run(for: .seconds(16))
        #expect(drive.starts.count == 2)
        #expect(drive.state?.isUp == true)
        #expect(drive.state?.totals(at: drive.now.instant).failedSessions == 1)
    }

    @Test("A stall that ends before its time, and one that ends by itself after it, need no other session")
    func recovers() throws {
        var drive = Drive(configuration([try stream("a")]))
        for length in [20, 50] {
            drive.run(for: .seconds(10))
            drive.emit(.bufferBegin, "a")
            drive.run(for: .seconds(length))
            #expect(drive.state?.isUp == (length < 30))
            drive.emit(.bufferFinish, "a")
            #expect(drive.state?.isUp == true)
        }
        drive.run(for: .seconds(100))
        #expect(drive.starts.count == 1)
    }

    @Test("The configured time counts for stalls and for starts; half of a short session is the most without one")
    func limits() throws {
        func limit(_ behaviour: Drive.Behaviour, _ change: (inout WatchedStream) -> Void) throws -> Double {
            var watched = try stream("a")
            change(&watched)
            var drive = Drive(configuration([watched]), ["a": behaviour])
            drive.run(for: .seconds(2))
            drive.emit(.bufferBegin, "a")
            let begin = drive.seconds
            while drive.state?.isUp != false, drive.seconds < 100 { drive.run(for: .seconds(0.5)) }
            return drive.seconds - begin
        }
        #expect(try limit(.plays) { $0.downDelay = .seconds(8) } == 8)
        #expect(try limit(.staysBlank) { $0.downDelay = .seconds(8) } == 6)
        #expect(try limit(.plays) { $0.schedule = .sampled(every: .seconds(60), for: .seconds(20)) } == 10)
        #expect(try limit(.plays) { _ in } == 30)
    }

    @Test("A stream that fails is tried at least every 30 s, a sampled one too")
    func retries() throws {
        for schedule in [WatchedStream.Schedule.continuous, .sampled(every: .seconds(3_600), for: .seconds(30))] {
            var drive = Drive(
                configuration([try stream("a", schedule)]),
                ["a": .fails(after: .milliseconds(100), code: "httpStatus")]
            )
            drive.run(for: .seconds(600))
            let gaps = zip(drive.starts, drive.starts.dropFirst()).map { $0.at.duration(to: $1.at) }
            #expect(gaps.count >= 19 && gaps.allSatisfy { $0 <= .seconds(31) }, "\(gaps)")
            drive.behaviours = [:]
            drive.run(for: .seconds(31))
            #expect(drive.state?.isUp == true)
        }
    }

    @Test("A sampled stream with an alert that fires is tried soon, and as configured afterwards")
    func alerting() throws {
        let low = try alert("low", "bitrate < 800k")
        let schedule = WatchedStream.Schedule.sampled(every: .seconds(3_600), for: .seconds(30))
        var drive = Drive(configuration([try stream("a", schedule)], [low]))
        drive.run(for: .seconds(5))
        drive.send(.gauges(PlaybackGauges(bitrate: 700_000)), to: "a")
        drive.run(for: .seconds(66))
        #expect(drive.starts.count == 2)
        for _ in 0..<12 {
            drive.send(.gauges(PlaybackGauges(bitrate: 900_000)), to: "a")
            drive.run(for: .seconds(10))
        }
        #expect(drive.model.alerts.isEmpty)
        let count = drive.starts.count
        drive.run(for: .seconds(1_800))
        #expect(drive.starts.count <= count + 1)
    }

    @Test("Many streams that are down are tried less often, so that they take no machine from those that play")
    func manyDown() throws {
        let streams = try (0..<3_000).map { try stream("s\($0)") }
        var options = MonitorOptions()
        options.evaluationInterval = .seconds(30)
        let now = Drive.time(0)
        var model = MonitorModel(configuration(streams), options: options, at: now)
        var starts = 0
        for step in 0...600 {
            let time = Drive.time(Int64(step) * 1_000)
            for case .start(let id, _) in model.advance(to: time) {
                if step > 300 { starts += 1 }
                _ = model.handle(.ended(.failed(code: "x", message: "m")), of: id, at: time)
            }
        }
        // Twenty in a second, with jitter.
        #expect((4_500...8_000).contains(starts), "\(starts)")
    }

    @Test("Try now ends a wait, replaces a session without a picture, and leaves one that plays alone")
    func tryNow() throws {
        var drive = Drive(
            configuration([try stream("a")]),
            ["a": .fails(after: .milliseconds(100), code: "connection")]
        )
        drive.run(for: .seconds(200))
        while drive.session(of: "a") != nil { drive.run(for: .seconds(0.05)) }
        drive.behaviours = [:]
        let count = drive.starts.count
        #expect(drive.tryNow("a") == .starts)
        drive.run(for: .seconds(1))
        #expect(drive.starts.count == count + 1)
        #expect(drive.tryNow("a") == .plays)
        drive.emit(.bufferBegin, "a")
        drive.run(for: .seconds(3))
        #expect(drive.tryNow("a") == .restarts)
        drive.run(for: .seconds(2))
        #expect(drive.starts.count == count + 2)
        #expect(drive.state?.word == .playing)
        #expect(drive.tryNow("other") == .unknown)
        drive.stop()
        #expect(drive.tryNow("a") == .stopping)
    }
}
