import Instrument
import InstrumentCheck
import InstrumentHTTP
import InstrumentRules
import TestTraits
import Testing

@testable import InstrumentOrigin

/// What a server may do to its responses without a fault.
enum ServerHabit: String, CaseIterable, CustomTestStringConvertible {
    case asWritten, newTokens, newHosts, oneLine
    var testDescription: String { rawValue }

    /// Changes the responses of one check.
    func change() -> @Sendable (inout HTTPResponse) -> Void {
        let count = Lock(0)
        return { response in
            let isManifest = response.url.path.hasSuffix(".mpd")
            guard isManifest || response.url.path.hasSuffix(".m3u8") else { return }
            let text = String(decoding: response.body, as: UTF8.self)
            let number = count.withLock { count in
                count += 1
                return count
            }
            switch self {
            case .asWritten: break
            case .newTokens: response.body = Array(Self.signed(text, number).utf8)
            case .newHosts:
                let url = "http://edge-\(number % 3).example\(response.url.path)"
                response.url = (try? HTTPURL(url)) ?? response.url
            case .oneLine:
                if isManifest { response.body.removeAll { $0 == 10 } }
            }
        }
    }

    private static func signed(_ text: String, _ number: Int) -> String {
        guard text.contains("#EXTINF") else { return text }
        return text.split(separator: "\n").map { line in
            line.hasPrefix("#") ? String(line) : "\(line)\(line.contains("?") ? "&" : "?")token=\(number)"
        }.joined(separator: "\n")
    }
}

/// Streams that keep the standards, on which no rule may fail.
@Suite("Rules on legal streams", .ownThread, .timeLimit(.minutes(30)))
struct LegalStreamTests {
    private static let streams = [
        "live/ts/master.m3u8", "live/ts6/master.m3u8", "live/fmp4/master.m3u8", "live/ll/master.m3u8",
        "live/dash/number.mpd", "live/dash/patch.mpd", "live/ll/low-latency.mpd", "break/none/live/dash/timeline.mpd",
    ]

    @Test(
        "A legal live stream breaks no rule, whatever the habits of its server",
        arguments: streams,
        ServerHabit.allCases
    )
    func live(path: String, habit: ServerHabit) async throws {
        let report = try await RuleTableTests.check(path, change: habit.change()) { configuration in
            // The habits change playlists alone.
            if habit != .asWritten { configuration.segmentCount = 0 }
        }
        let found = report.findings.map { "\($0.rule) at \($0.resource): \($0.message)" }
        #expect(found.isEmpty)
        #expect(report.playlistCount > 2)
        #expect(report.segmentCount > 2 || habit != .asWritten)
    }

    @Test(
        "A legal live stream is never stale, whatever the habits of its server",
        arguments: streams,
        ServerHabit.allCases
    )
    func staleness(path: String, habit: ServerHabit) async throws {
        let rounds = try await RuleTableTests.rounds(path, change: habit.change())
        #expect(rounds.count > 2)
        for round in rounds {
            guard let age = round.playlistAge, let target = round.targetDuration else { continue }
            #expect(age <= target * 1.5)
        }
    }

    @Test("An MPD whose segments follow from the time alone has no age")
    func ageless() async throws {
        let rounds = try await RuleTableTests.rounds("live/dash/number.mpd")
        #expect(rounds.allSatisfy { $0.isReadable && $0.playlistAge == nil && $0.livePlaylists.isEmpty })
    }

    @Test(
        "A live stream that gets no new segments is stale, whatever the habits of its server",
        arguments: [
            "break/stale/live/ts/master.m3u8", "break/stale/live/fmp4/master.m3u8",
            "break/mpd-stale/live/dash/timeline.mpd",
        ],
        ServerHabit.allCases
    )
    func frozen(path: String, habit: ServerHabit) async throws {
        let rounds = try await RuleTableTests.rounds(path, change: habit.change())
        let last = try #require(rounds.last)
        #expect(try #require(last.playlistAge) > #require(last.targetDuration) * 1.5)
        #expect(last.broken.map(\.rule) == [path.hasSuffix("mpd") ? "mpd-stale" : "stale"])
    }

    @Test(
        "A period that ends inside a segment breaks no rule",
        arguments: ["vod/dash/timeline.mpd", "vod/dash/number.mpd", "vod/dash/base.mpd"]
    )
    func cutSegment(path: String) async throws {
        let report = try await RuleTableTests.check(path) { response in
            guard response.url.path.hasSuffix(".mpd") else { return }
            let text = String(decoding: response.body, as: UTF8.self)
            // Segments of two seconds: the second one crosses the end.
            response.body = Array(text.replacing(/uration="PT\d+S"/, with: "uration=\"PT2.5S\"").utf8)
        }
        // The timeline lists the whole media.
        let found = report.findings.filter { !path.contains("timeline") || $0.rule != "period-boundary" }
        #expect(found.map { "\($0.rule) at \($0.resource): \($0.message)" }.isEmpty)
        #expect(report.segmentCount > 2)
    }

    @Test("The index of a file is fetched once in a check of a live stream")
    func liveFile() async throws {
        let counts = Lock([String: Int]())
        let report = try await RuleTableTests.check("vod/dash/base.mpd") { response in
            let path = response.url.path
            counts.withLock { $0[path, default: 0] += 1 }
            guard path.hasSuffix(".mpd") else { return }
            let live = "type=\"dynamic\" availabilityStartTime=\"1970-01-01T00:00:00Z\" minimumUpdatePeriod=\"PT2S\""
            let text = String(decoding: response.body, as: UTF8.self).replacing("type=\"static\"", with: live)
            response.body = Array(text.utf8)
        }
        #expect(report.playlistCount > 10 && report.segmentCount > 2)
        // The index, the initialization section, two segments, the oldest one, and one for comparison.
        let files = counts.withLock { $0.filter { $0.key.hasSuffix(".mp4") } }
        #expect(!files.isEmpty && files.values.allSatisfy { $0 <= 8 }, "\(files)")
    }

    @Test("No rule fails on a stream of the origin's catalogue")
    func catalogue() async throws {
        let streams = try await SharedFixtures.get().catalogue.map(\.path).filter {
            $0.hasSuffix(".m3u8") || $0.hasSuffix(".mpd")
        }
        #expect(streams.count > 20)
        for path in streams {
            let report = try await RuleTableTests.check(path)
            // One stream of the catalogue has an end of an ad break without a begin, to test players.
            let expected: [Rule.ID] = path.contains("ads-orphaned") ? ["ad-signal-wrong"] : []
            let found = report.findings.map { "\($0.rule) at \($0.resource): \($0.message)" }
            #expect(report.findings.map(\.rule) == expected, "\(path): \(found)")
        }
    }
}
