import Instrument
import InstrumentCheck
import InstrumentHTTP
import InstrumentOrigin
import InstrumentRules
import TestTraits
import Testing

/// Rules × fixtures: each rule is broken on its fixtures and on nothing else.
@Suite("Rules on the origin's broken streams", .ownThread, .timeLimit(.minutes(30)))
struct RuleTableTests {
    /// Checks a stream of the origin for half a minute of a clock that does not wait.
    static func check(
        _ path: String,
        change: (@Sendable (inout HTTPResponse) -> Void)? = nil,
        segmentTime: Duration = .zero,
        configure: (inout StreamCheckConfiguration) -> Void = { _ in }
    ) async throws -> StreamCheckReport {
        let clock = SteppingClock()
        var transport = try OriginTransport(try await SharedFixtures.get(), clock: clock)
        transport.change = change
        transport.segmentTime = segmentTime
        var configuration = StreamCheckConfiguration()
        configuration.segmentCount = 2
        configuration.duration = .seconds(30)
        configure(&configuration)
        let url = try HTTPURL("http://origin.example/\(path)")
        let check = StreamCheck(url, transport: transport, clock: clock, configuration: configuration)
        return await clock.run { await check.run() }
    }

    @Test("A stream breaks exactly the rule of its name", arguments: Fixtures.brokenStreams)
    func table(stream: BrokenStream) async throws {
        let report = try await Self.check(stream.path)
        let broken = Set(report.findings.map(\.rule.description))
        let found = report.findings.map { "\($0.rule) at \($0.resource): \($0.message)" }
        #expect(broken == (stream.rule == "none" ? [] : [stream.rule]), "\(found)")
        #expect(report.playlistCount > 0)
        #expect(report.omittedFindings == 0)
    }

    /// The rounds of a check of half a minute.
    static func rounds(
        _ path: String,
        change: (@Sendable (inout HTTPResponse) -> Void)? = nil,
        configure: (inout StreamCheckConfiguration) -> Void = { _ in }
    ) async throws -> [StreamCheckRound] {
        let clock = SteppingClock()
        var transport = try OriginTransport(try await SharedFixtures.get(), clock: clock)
        transport.change = change
        var configuration = StreamCheckConfiguration()
        configuration.duration = .seconds(30)
        configure(&configuration)
        let url = try HTTPURL("http://origin.example/\(path)")
        let rounds = Lock<[StreamCheckRound]>([])
        let check = StreamCheck(url, transport: transport, clock: clock, configuration: configuration)
        await clock.run { _ = await check.run { round in rounds.withLock { $0.append(round) } } }
        return rounds.withLock { $0 }
    }

    @Test("The rounds of a stale stream name the rule once it is broken, and the age of the playlist grows")
    func staleRounds() async throws {
        let rounds = try await Self.rounds("break/stale/live/ts/master.m3u8")
        #expect(rounds.count >= 10)
        let broken = rounds.map { $0.broken.map(\.rule.description) }
        let first = try #require(broken.firstIndex(of: ["stale"]))
        #expect(broken[..<first].allSatisfy { $0.isEmpty })
        #expect(broken[first...].allSatisfy { $0 == ["stale"] })
        for round in rounds {
            let (age, target) = (try #require(round.playlistAge), try #require(round.targetDuration))
            #expect((age > target * 1.5) == !round.broken.isEmpty)
            #expect(round.isReadable)
        }
    }

    @Test("Playlists are reloaded in their rhythm beside slow segments", arguments: [3, 12, 45])
    func slowSegments(seconds: Int) async throws {
        let stale = try await Self.check("break/stale/live/ts/master.m3u8", segmentTime: .seconds(seconds))
        #expect(Set(stale.findings.map(\.rule.description)) == ["stale"])
        // A segment that has left the window when it is there is no fault.
        let good = try await Self.check("break/none/live/ts/master.m3u8", segmentTime: .seconds(seconds))
        #expect(good.findings.map(\.message) == [])
        let fast = try await Self.check("break/none/live/ts/master.m3u8")
        #expect(good.playlistCount == fast.playlistCount)
        #expect(good.readSegmentCount > 0)
    }

    @Test("A slow playlist keeps no other one from its rhythm, and is never requested twice at once")
    func slowPlaylist() async throws {
        let clock = SteppingClock()
        var transport = try OriginTransport(try await SharedFixtures.get(), clock: clock)
        transport.playlistTimes = ["v1.m3u8": .milliseconds(5_400)]
        var configuration = StreamCheckConfiguration()
        configuration.duration = .seconds(30)
        let url = try HTTPURL("http://origin.example/break/none/live/ts/master.m3u8")
        let check = StreamCheck(url, transport: transport, clock: clock, configuration: configuration)
        let rounds = Lock(0)
        let report = await clock.run { await check.run { _ in rounds.withLock { $0 += 1 } } }
        let requests = transport.requests.withLock { $0 }
        for name in ["v0.m3u8", "v2.m3u8"] {
            #expect(requests[name] == (0...15).map { Double($0 * 2) }, "\(name)")
        }
        // Half a second after each answer: the target duration has passed.
        #expect(requests["v1.m3u8"] == [0, 5.9, 11.8, 17.7, 23.6, 29.5])
        #expect(report.playlistCount == 1 + 16 + 16 + 6)
        #expect(report.findings.map(\.message) == [])
        #expect(rounds.withLock { $0 } >= 16)
    }

    @Test("What is fetched of a stream on demand does not depend on how long segments take", arguments: [0.3, 1.5, 9])
    func slowRecording(seconds: Double) async throws {
        let path = "break/bandwidth-missing/vod/ts/master.m3u8"
        let fast = try await Self.check(path)
        let slow = try await Self.check(path, segmentTime: .seconds(seconds))
        // Two segments of three renditions, and the next two after the second reading of their playlists. The first one
        // is fetched again, and counted once.
        #expect(fast.segmentCount == 12 && fast.readSegmentCount == 12)
        #expect(slow.segmentCount == fast.segmentCount && slow.readSegmentCount == fast.readSegmentCount)
        #expect(slow.playlistCount == fast.playlistCount && slow.findings == fast.findings)
    }

    @Test("The rounds of a good stream name no rule, and its playlists are never old")
    func goodRounds() async throws {
        let rounds = try await Self.rounds("break/none/live/ts/master.m3u8")
        #expect(rounds.allSatisfy { $0.broken.isEmpty && $0.media.isEmpty })
        for round in rounds {
            let (age, target) = (try #require(round.playlistAge), try #require(round.targetDuration))
            #expect(age <= target * 1.5)
        }
    }

    @Test("The rounds of a stream that cannot be read say so")
    func unreadableRounds() async throws {
        let rounds = try await Self.rounds("nothing/here.m3u8")
        #expect(rounds.allSatisfy { !$0.isReadable && $0.playlistAge == nil })
        #expect(rounds.first?.broken.map(\.rule.description) == ["manifest-unavailable"])
    }

    @Test("Every rule has a fixture, and every fixture has a rule")
    func completeness() {
        let rules = Set(Rule.all.map(\.id.description))
        #expect(rules.count == Rule.all.count)
        // The origin has one scheme, so that no stream of it can be redirected to another: NoticeTests does that.
        #expect(rules == Set(Fixtures.brokenStreams.map(\.rule)).subtracting(["none"]).union(["redirect-to-http"]))
    }

    @Test("Every rule has a kebab-case name, a title, an explanation and a source", arguments: Rule.all.map(\.id))
    func texts(id: Rule.ID) throws {
        let rule = try #require(Rule.all.first { $0.id == id })
        #expect(id.description.allSatisfy { $0.isLowercase || $0 == "-" })
        #expect(!rule.title.isEmpty && !rule.title.hasSuffix("."))
        #expect(rule.explanation.hasSuffix("."))
        #expect(["RFC 8216bis section", "ISO/IEC 23009-1", "RFC 9110", "W3C"].contains { rule.source.contains($0) })
    }

    @Test("A live check reloads, fetches segments, and keeps to its duration")
    func amount() async throws {
        let report = try await Self.check("break/none/live/ts/master.m3u8")
        #expect(report.format == "HLS")
        #expect(report.renditionCount == 3)
        // A master playlist, and three playlists every two seconds from 0 to 30 s.
        #expect(report.playlistCount == 1 + 3 * 16)
        #expect(report.segmentCount >= 3 * 16)
        let once = try await Self.check(
            "break/none/live/ts/master.m3u8",
            configure: { configuration in
                configuration.duration = .zero
                configuration.segmentCount = 0
            }
        )
        #expect(once.playlistCount == 4)
        #expect(once.segmentCount == 0)
    }

    @Test("A media playlist that stands alone is checked like a rendition", arguments: ["vod", "live"])
    func alone(kind: String) async throws {
        let report = try await Self.check("break/none/\(kind)/ts/v0.m3u8")
        #expect(report.findings.isEmpty)
        #expect(report.renditionCount == 1)
        // On demand the playlist is fetched once more; live it is fetched every two seconds.
        #expect(report.playlistCount == (kind == "vod" ? 2 : 16))
        let path = kind == "vod" ? "break/version-too-low/vod/ts/v0.m3u8" : "break/stale/live/ts/v0.m3u8"
        let rule: Rule.ID = kind == "vod" ? "version-too-low" : "stale"
        #expect(try await Self.check(path).findings.map(\.rule) == [rule])
    }
}
