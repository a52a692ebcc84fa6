import Instrument
import InstrumentHTTP
import InstrumentJSON
import InstrumentWatch
import Testing

@testable import InstrumentMonitor

@Suite("Streams of several places")
struct PlaceTests {
    private static let all = ["oslo", "paris", "rome"]

    @Test("A stream of each place is a separate stream with its location and its labels")
    func names() throws {
        var drive = try PlaceDrive()
        drive.begin("news", in: ["oslo", "rome"])
        #expect(
            drive.model.streams.order.compactMap { drive.model.streams[$0]?.stream.name } == [
                "news (oslo)", "news (rome)",
            ]
        )
        let state = try #require(drive.state("news", "oslo"))
        #expect(state.word == .playing && state.isUp == true)
        #expect(state.stream.labels == ["cdn": "alpha", "location": "oslo"])
        #expect(state.stream.url.description == "https://cdn.example.org/news/master.m3u8")
        let metrics = String(
            decoding: MonitorMetrics(of: drive.model, MonitorFacts(), at: drive.now.instant).bytes(.prometheus),
            as: UTF8.self
        )
        #expect(metrics.contains("instrument_stream_up{stream=\"news\",cdn=\"alpha\",location=\"oslo\"} 1"))
        #expect(!metrics.contains("secret"))
    }

    @Test("One outage is one incident, and says from where it is seen")
    func scopes() throws {
        var drive = try PlaceDrive()
        drive.begin("news", in: Self.all)
        drive.begin("sport", in: Self.all)
        drive.run(for: 20, pinging: Self.all)
        drive.fail("news", host: "edge-1.example.org", in: ["oslo"])
        drive.run(for: 20, pinging: Self.all)
        #expect(drive.titles == ["Playlist: 503 Service Unavailable, from oslo only (1 of 3 places)"])
        // Each place is served by another edge, with another fault: still the same outage of the stream.
        drive.fail("news", status: 500, host: "edge-2.example.org", in: ["paris"])
        drive.run(for: 10, pinging: Self.all)
        #expect(drive.titles == ["Playlist: 503 Service Unavailable, from oslo and paris (2 of 3 places)"])
        drive.fail("news", status: 502, host: "edge-3.example.org", in: ["rome"])
        drive.run(for: 20, pinging: Self.all)
        #expect(drive.titles == ["Playlist: 503 Service Unavailable, everywhere (3 of 3 places)"])
        let document = try #require(drive.documents.incidents.elements?.first)
        #expect(document["scope"] == "everywhere (3 of 3 places)")
        #expect(
            document["places"] == [
                ["name": "oslo", "state": "failing"], ["name": "paris", "state": "failing"],
                ["name": "rome", "state": "failing"],
            ]
        )
        drive.begin("news", in: Self.all)
        drive.run(for: 120, pinging: Self.all)
        #expect(drive.titles.isEmpty)
    }

    @Test("Another stream that fails for another reason is another incident")
    func separate() throws {
        var drive = try PlaceDrive()
        for stream in ["news", "sport"] { drive.begin(stream, in: Self.all) }
        drive.run(for: 10, pinging: Self.all)
        drive.fail("news", status: 503, in: ["oslo"])
        drive.fail("sport", status: 404, in: Self.all)
        drive.run(for: 20, pinging: Self.all)
        #expect(
            drive.titles.sorted() == [
                "Playlist: 404 Not Found, everywhere (3 of 3 places)",
                "Playlist: 503 Service Unavailable, from oslo only (1 of 3 places)",
            ]
        )
    }

    @Test("Every host that fails without an answer from one place alone is the network of that place")
    func ownNetwork() throws {
        var drive = try PlaceDrive()
        let hosts = ["news": "a.example.org", "sport": "b.example.org"]
        for (stream, host) in hosts.sorted(by: { $0.key < $1.key }) {
            for place in Self.all {
                if let records = drive.monitors[place]?.begin(stream, host: host, at: drive.now) { drive.take(records) }
            }
        }
        drive.run(for: 10)
        var attributes: Attributes = ["errorPhase": "playlist"]
        attributes[.errorCode] = "connection"
        attributes[.isFatal] = true
        for (stream, host) in hosts.sorted(by: { $0.key < $1.key }) {
            attributes["errorURL"] = .string("https://\(host)/x.m3u8")
            drive.send(.error, stream, in: "oslo", attributes)
        }
        drive.run(for: 20)
        #expect(drive.titles == ["The monitor's own network is the likely cause, from oslo only (1 of 3 places)"])
    }

    // MARK: Silence

    @Test("A place that falls silent is an incident, and none of its streams is down")
    func silence() throws {
        var drive = try PlaceDrive()
        drive.begin("news", in: Self.all)
        // The playback waits for media when the monitor ends.
        drive.send(.bufferBegin, "news", in: "oslo")
        drive.run(for: 80, pinging: ["paris", "rome"])
        let title = try #require(drive.titles.first)
        #expect(drive.titles.count == 1 && title.hasPrefix("No samples from oslo since "))
        #expect(drive.state("news", "oslo")?.isUp == nil)
        #expect(drive.state("news", "oslo")?.word == .unknown)
        #expect(drive.state("news", "paris")?.word == .playing)
        #expect(drive.model.alerts.isEmpty)
        // Nothing is played here.
        #expect(drive.starts.isEmpty)
        // What a silent place sees of an outage is unknown.
        drive.fail("news", in: ["paris", "rome"])
        drive.run(for: 20, pinging: ["paris", "rome"])
        #expect(
            drive.titles.last
                == "Playlist: 503 Service Unavailable, everywhere (2 of 2 places; nothing is known from oslo)"
        )
        drive.begin("news", in: Self.all)
        drive.run(for: 120, pinging: Self.all)
        #expect(drive.titles.isEmpty)
        #expect(drive.state("news", "oslo")?.isUp == true)
    }

    @Test("A stall is down once the place has sent samples behind its limit, and never without")
    func stalls() throws {
        var drive = try PlaceDrive(silence: .seconds(600))
        drive.begin("news", in: ["oslo", "paris"])
        drive.run(for: 5)
        for place in ["oslo", "paris"] { drive.send(.bufferBegin, "news", in: place) }
        drive.run(for: 60, pinging: ["paris"])
        #expect(drive.state("news", "oslo")?.isUp == true)
        #expect(drive.state("news", "paris")?.isUp == false)
        #expect(drive.state("news", "paris")?.word == .down)
        drive.send(.bufferFinish, "news", in: "paris")
        #expect(drive.state("news", "paris")?.word == .playing)
    }

    @Test("A source that cannot be read is one incident, and no silence of its places")
    func source() throws {
        var drive = try PlaceDrive()
        drive.begin("news", in: Self.all)
        drive.model.note(sourceFailure: "no broker answers", at: drive.now)
        drive.run(for: 200)
        #expect(drive.titles == ["The samples of all places cannot be read"])
        drive.take([])
        drive.run(for: 40)
        // The places have as long as ever from now on.
        #expect(drive.titles.isEmpty)
        drive.run(for: 40)
        #expect(drive.titles.count == 3)
    }

    @Test("Nothing fires while the past is read")
    func past() throws {
        var drive = try PlaceDrive(isCaughtUp: false)
        drive.fail("news", in: Self.all)
        drive.run(for: 60)
        #expect(drive.titles.isEmpty && drive.model.alerts.isEmpty)
        drive.begin("news", in: Self.all)
        drive.model.take(SampleBatch(isCaughtUp: true), at: drive.now)
        drive.run(for: 20, pinging: Self.all)
        #expect(drive.titles.isEmpty)
    }

    // MARK: Samples that are not used

    @Test("Samples that no monitor could have written are refused and counted")
    func refused() throws {
        var drive = try PlaceDrive()
        drive.begin("news", in: ["oslo"])
        var hostile = RemoteMonitor("oslo", log: 90)
        let long = String(repeating: "x", count: 201)
        drive.take(hostile.begin("a\u{1B}[2Jb", at: drive.now) + hostile.begin(long, at: drive.now))
        #expect(drive.refused(.invalid) == 6)
        var nameless = RemoteMonitor(nil, log: 91)
        drive.take([nameless.sample(.start, nil, at: drive.now)])
        #expect(drive.refused(.unnamed) == 1)
        hostile.skew = .seconds(7_200)
        drive.take(hostile.begin("future", at: drive.now))
        hostile.skew = .seconds(-100_000)
        drive.take(hostile.begin("past", at: drive.now))
        #expect(drive.refused(.future) == 3 && drive.refused(.late) == 3)
        hostile.skew = .zero
        var odd = hostile.sample(.mediaRequest, "odd", at: drive.now)
        if case .event(var event) = odd.sample {
            event[.source] = "file:///etc/passwd"
            odd = SampleRecord(id: odd.id, sequence: odd.sequence, sample: .event(event))
        }
        drive.take([odd])
        #expect(drive.refused(.invalid) == 7)
        #expect(drive.model.streams.order.count == 1)
        #expect(drive.state("news", "oslo")?.word == .playing)
    }

    @Test("An older sample of a session changes nothing")
    func late() throws {
        var drive = try PlaceDrive()
        drive.begin("news", in: ["oslo"])
        let stall = drive.monitors["oslo"]?.sample(.bufferBegin, "news", at: drive.now)
        drive.send(.ping, "news", in: "oslo")
        drive.take([stall].compactMap(\.self))
        #expect(drive.refused(.late) == 1)
        #expect(drive.state("news", "oslo")?.word == .playing)
    }

    @Test("Two monitors with one location do not mix their sessions")
    func rivals() throws {
        var drive = try PlaceDrive()
        drive.begin("news", in: ["oslo"])
        var other = RemoteMonitor("oslo", log: 70)
        drive.take([other.sample(.bufferBegin, "news", at: drive.now)])
        #expect(drive.refused(.rival) == 1)
        #expect(drive.state("news", "oslo")?.word == .playing)
    }

    @Test("Places beyond the limit are refused")
    func excess() throws {
        var drive = try PlaceDrive()
        for number in 0..<(PlaceBook.mostPlaces + 5) {
            var monitor = RemoteMonitor("p\(number)", log: UInt64(number))
            drive.take(monitor.begin("s", at: drive.now))
        }
        #expect(drive.model.streams.order.count == PlaceBook.mostPlaces)
        #expect(drive.refused(.excess) == 15)
    }

    @Test("A calendar that is wrong changes no duration", arguments: [-600, 0, 600, 3_000])
    func clocks(skew: Int) throws {
        var drive = try PlaceDrive(["oslo"])
        drive.monitors["oslo"]?.skew = .seconds(skew)
        drive.begin("news", in: ["oslo"])
        for _ in 0..<2 {
            drive.run(for: 30)
            drive.send(.ping, "news", in: "oslo")
        }
        let figures = try #require(drive.state("news", "oslo")?.figures(at: drive.now.instant))
        // With a calendar that is behind, the session began when it says.
        #expect((60_000...61_000).contains(figures.playing) || skew < 0)
        #expect(drive.state("news", "oslo")?.word == .playing)
        #expect(drive.titles.isEmpty)
    }

    @Test("A session of which nothing more is known does not count as playing without end")
    func reach() throws {
        var drive = try PlaceDrive(["oslo"], silence: .seconds(3_600))
        drive.begin("news", in: ["oslo"])
        drive.run(for: 900)
        #expect(drive.state("news", "oslo")?.figures(at: drive.now.instant).playing == 60_000)
    }

    // MARK: Sessions, settings, restarts

    @Test("The settings of the configuration are those of a stream in every place, and a reload keeps the streams")
    func settings() throws {
        var news = try stream("news")
        news.downDelay = .seconds(5)
        var drive = try PlaceDrive(settings: [news])
        drive.begin("news", in: Self.all)
        #expect(drive.state("news", "rome")?.stream.downDelay == .seconds(5))
        news.downDelay = .seconds(7)
        let new = configuration([news], [try alert("late", "startup_seconds > 9")]).reading(silence: .seconds(60))
        #expect(drive.model.reload(new, at: drive.now).isEmpty)
        #expect(drive.state("news", "rome")?.stream.downDelay == .seconds(7))
        #expect(drive.state("news", "rome")?.word == .playing)
        #expect(drive.model.streams.order.count == 3)
    }

    @Test("A stream of another monitor is tried there, and nothing is started or stopped here")
    func elsewhere() throws {
        var drive = try PlaceDrive()
        drive.begin("news", in: ["oslo"])
        let (outcome, effects) = drive.model.tryNow("news (oslo)", at: drive.now)
        #expect(outcome == .elsewhere && effects.isEmpty)
        #expect(drive.model.stop(at: drive.now).isEmpty)
        #expect(drive.model.isIdle)
    }

    @Test("Streams, incidents and their places survive a restart")
    func restart() throws {
        var first = try PlaceDrive()
        first.begin("news", in: Self.all)
        first.fail("news", in: ["oslo"])
        first.run(for: 30, pinging: Self.all)
        let title = "Playlist: 503 Service Unavailable, from oslo only (1 of 3 places)"
        #expect(first.titles == [title])
        let saved = try #require(SavedMonitor(first.saved.bytes))
        var second = try PlaceDrive(restoring: saved)
        #expect(second.state("news", "oslo")?.isUp == false)
        second.run(for: 15, pinging: Self.all)
        #expect(second.titles == [title])
        // The message was sent before.
        #expect(second.messages.isEmpty)
    }

    @Test("Of a web page with several elements, the session follows one, and the next once its playback is over")
    func elements() throws {
        var drive = try PlaceDrive(["oslo"], silence: .seconds(600))
        func element(_ number: Int) -> Attributes {
            var attributes: Attributes = [:]
            (attributes[.senderId], attributes[.playbackId]) = ("an-instrument-\(number)", "\(number)")
            return attributes
        }
        // An element that plays nothing gives way to one that plays.
        for (number, action) in [(5, Action.mediaRequest), (0, .mediaRequest), (5, .streamLoad)] {
            drive.send(action, "page", in: "oslo", element(number))
        }
        for action in [Action.mediaRequest, .streamLoad, .start] { drive.send(action, "page", in: "oslo", element(1)) }
        for action in [Action.mediaRequest, .streamLoad, .start, .bufferBegin] {
            drive.send(action, "page", in: "oslo", element(2))
        }
        drive.run(for: 45)
        #expect(drive.state("page", "oslo")?.word == .playing)
        #expect(drive.state("page", "oslo")?.counters.finished.sessions == 3)
        #expect(drive.refused(.rival) == 0)
        // The playback is over: the other element stalls on.
        drive.send(.end, "page", in: "oslo", element(1))
        drive.send(.ping, "page", in: "oslo", element(1))
        for action in [Action.start, .bufferBegin] { drive.send(action, "page", in: "oslo", element(2)) }
        #expect(drive.state("page", "oslo")?.word == .stalled)
        #expect(drive.state("page", "oslo")?.counters.finished.sessions == 4)
        // One of which nothing has come for a minute gives way.
        drive.run(for: 61)
        drive.send(.mediaRequest, "page", in: "oslo", element(3))
        #expect(drive.state("page", "oslo")?.counters.finished.sessions == 5)
    }

    @Test("A session that another one replaces is no failure, and one that fails is")
    func replaced() throws {
        var drive = try PlaceDrive()
        drive.send(.mediaRequest, "news", in: "oslo")
        drive.run(for: 20)
        drive.send(.mediaRequest, "news", in: "oslo")
        #expect(drive.state("news", "oslo")?.failures == 0)
        #expect(drive.state("news", "oslo")?.isUp == nil)
        drive.fail("news", in: ["oslo"])
        let state = try #require(drive.state("news", "oslo"))
        #expect(state.failures == 1 && state.isUp == false && state.word == .down)
        #expect(state.cause?.status == 503 && state.cause?.host == "cdn.example.org")
    }
}
