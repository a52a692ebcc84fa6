import Foundation
import Instrument
import InstrumentCheck
import InstrumentHTTP
import InstrumentRules
import TestTraits
import Testing

@Suite("Checks of hostile streams", .ownThread, .timeLimit(.minutes(30)))
struct HostileStreamTests {
    @Test("A server that answers nothing but errors gives a finding and no more requests", arguments: [404, 500, 302])
    func errors(status: Int) async throws {
        let report = try await RuleTableTests.check("break/none/live/ts/master.m3u8") {
            $0.status = status; $0.body = []
        }
        #expect(report.findings.map(\.rule) == ["manifest-unavailable"])
        #expect(report.findings.first?.problem.found == "status \(status)")
        #expect(report.format == nil)
    }

    @Test("A body that is no playlist is malformed and has no renditions")
    func html() async throws {
        let page = Array("<!doctype html><p>Sign in</p>".utf8)
        for path in ["break/none/live/ts/master.m3u8", "break/none/live/dash/number.mpd"] {
            let report = try await RuleTableTests.check(path) { $0.body = page }
            let rule: Rule.ID = path.hasSuffix("mpd") ? "mpd-malformed" : "playlist-malformed"
            #expect(report.findings.map(\.rule) == [rule])
            #expect(report.renditionCount == 0)
        }
    }

    @Test("A playlist that names itself as its variant ends the check")
    func loop() async throws {
        let body = Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000\nmaster.m3u8\n".utf8)
        let report = try await RuleTableTests.check("break/none/live/ts/master.m3u8") { $0.body = body }
        #expect(report.findings.map(\.rule) == ["playlist-malformed"])
        #expect(report.playlistCount <= 4)
    }

    @Test("A ladder of a thousand variants is checked as far as the limit")
    func wideLadder() async throws {
        let lines = (1...900).map { "#EXT-X-STREAM-INF:BANDWIDTH=\($0)\nv0.m3u8?\($0)" }.joined(separator: "\n")
        let body = Array("#EXTM3U\n\(lines)\n".utf8)
        let report = try await RuleTableTests.check("break/none/vod/ts/master.m3u8") { response in
            if response.url.path.hasSuffix("master.m3u8") { response.body = body }
        } configure: { configuration in
            configuration.segmentCount = 0
        }
        #expect(report.renditionCount == 32)
        #expect(report.skippedRenditionCount == 868)
    }

    @Test("A cancelled check returns its findings so far")
    func cancellation() async throws {
        let task = Task { try await RuleTableTests.check("break/version-too-low/vod/ts/master.m3u8") }
        task.cancel()
        let report = try await task.value
        #expect(report.segmentCount == 0)
    }

    @Test("Random damage to any response never stops a check")
    func damage() async throws {
        for seed in 0..<12 {
            let path = seed % 2 == 0 ? "break/none/live/fmp4/master.m3u8" : "break/none/live/dash/timeline.mpd"
            let report = try await RuleTableTests.check(path) { response in
                guard !response.body.isEmpty else { return }
                var state = UInt64(truncatingIfNeeded: seed &* 7_919 &+ response.body.count)
                for _ in 0..<8 {
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    response.body[Int(state >> 33) % response.body.count] = UInt8(truncatingIfNeeded: state >> 24)
                }
            } configure: { configuration in
                configuration.duration = .seconds(4)
            }
            #expect(report.playlistCount > 0)
        }
    }
}
