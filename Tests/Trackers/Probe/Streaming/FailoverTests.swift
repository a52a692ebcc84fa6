import Foundation
import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentProbe

@Suite("Several servers with the same content", .ownThread)
struct FailoverTests {
    private typealias Fault = SimulatedNetwork.Fault

    private static let servers = """
        <BaseURL serviceLocation="first">/first/</BaseURL><BaseURL serviceLocation="second">/second/</BaseURL>
        """

    private static func manifest(_ servers: String = servers) -> String {
        """
        <MPD type="static" mediaPresentationDuration="PT12S">\(servers)<Period id="p">\
        <AdaptationSet mimeType="video/mp4"><SegmentTemplate timescale="1" duration="2" startNumber="0" \
        initialization="init.mp4" media="media$Number$.m4s"/><Representation id="v" bandwidth="200000"/>\
        </AdaptationSet></Period></MPD>
        """
    }

    private func play(
        _ path: String,
        profile: PlayerProfile,
        _ fault: @escaping @Sendable (String, Int) -> Fault?,
        manifest: @escaping @Sendable (String) -> String?
    ) async throws -> (played: Played, paths: [String]) {
        let folder = try path.hasSuffix("mpd") ? Fixtures.hlsMP4.get() : Fixtures.hlsTS.get()
        let clock = VirtualClock()
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 80_000_000)], fault: fault) { path in
            if let text = manifest(path) { return Array(text.utf8) }
            return (try? Fixtures.data(folder + "/" + (path.split(separator: "/").last ?? ""))).map { [UInt8]($0) }
        }
        let played = await playStream(path, over: network, clock, ProbeConfiguration(profile: profile))
        return (played, network.requests.map(\.path))
    }

    private func playDASH(
        _ servers: String = servers,
        after: [FailureResponse],
        _ fault: @escaping @Sendable (String, Int) -> Fault?
    ) async throws -> (played: Played, paths: [String]) {
        try await play("/a.mpd", profile: .plain(after: after), fault) {
            $0.hasSuffix("mpd") ? Self.manifest(servers) : nil
        }
    }

    @Test("DASH: a server that fails is left for the next BaseURL, with one error that playback survives")
    func nextBaseURL() async throws {
        let (played, paths) = try await playDASH(after: [.useOtherLocation(excludedFor: nil)]) { path, _ in
            path.hasPrefix("/first/media3") ? .status(503) : nil
        }
        #expect(played.outcome == .ended, "\(played.story)")
        let media = paths.filter { $0.hasSuffix("m4s") }
        #expect(
            media == (0...3).map { "/first/media\($0).m4s" } + (3...5).map { "/second/media\($0).m4s" }
        )
        // The initialization section is the same everywhere.
        #expect(paths.filter { $0.hasSuffix("init.mp4") } == ["/first/init.mp4"])
        let errors = played.all(.error)
        #expect(errors.count == 1 && errors.first?.attributes[.isFatal] == false)
        // The wait before the start is the only one.
        #expect(played.all(.bufferBegin).count == 1)
    }

    @Test("DASH: a server that is excluded for a time is used again after it")
    func exclusionEnds() async throws {
        var profile = PlayerProfile.plain(maximum: .seconds(3), after: [.useOtherLocation(excludedFor: .seconds(3))])
        profile.buffer.maximum = .seconds(3)
        let (played, paths) = try await play("/a.mpd", profile: profile) { path, _ in
            path == "/first/media1.m4s" ? .status(503) : nil
        } manifest: {
            $0.hasSuffix("mpd") ? Self.manifest() : nil
        }
        #expect(played.outcome == .ended, "\(played.story)")
        let media = paths.filter { $0.hasSuffix("m4s") }
        #expect(media.contains("/second/media1.m4s"))
        #expect(media.last == "/first/media5.m4s", "\(media)")
    }

    @Test("DASH: the initialization section comes from the next server as well, and dvb:priority orders the servers")
    func initialization() async throws {
        let servers = """
            <BaseURL dvb:priority="3">/third/</BaseURL><BaseURL dvb:priority="2">/second/</BaseURL><BaseURL>/first/</BaseURL>
            """
        let (played, paths) = try await playDASH(servers, after: [.useOtherLocation(excludedFor: nil)]) {
            path,
            _ in path.hasPrefix("/first/") || path.hasPrefix("/second/") ? .status(500) : nil
        }
        #expect(played.outcome == .ended, "\(played.story)")
        let sections = paths.filter { $0.hasSuffix("init.mp4") }
        #expect(sections == ["/first/init.mp4", "/second/init.mp4", "/third/init.mp4"])
        #expect(paths.filter { $0.hasSuffix("m4s") }.allSatisfy { $0.hasPrefix("/third/") })
    }

    @Test("Without a server that is left, the next response counts, and the error is the server's")
    func noServerLeft() async throws {
        let (played, paths) = try await playDASH(after: [.useOtherLocation(excludedFor: nil)]) { path, _ in
            path.hasSuffix("m4s") ? .status(503) : nil
        }
        #expect(paths.filter { $0.hasSuffix("m4s") } == ["/first/media0.m4s", "/second/media0.m4s"])
        guard case .failed(let error) = played.outcome else {
            Issue.record("expected a failure, found \(String(describing: played.outcome))")
            return
        }
        #expect(error.code == .httpStatus)
    }

    @Test("ExoPlayer takes the other server without a retry, and keeps the variant")
    func withoutRetry() async throws {
        let (played, paths) = try await play("/a.mpd", profile: .exoPlayer) { path, _ in
            path == "/first/media2.m4s" ? .status(404) : nil
        } manifest: {
            $0.hasSuffix("mpd") ? Self.manifest() : nil
        }
        #expect(played.outcome == .ended, "\(played.story)")
        #expect(paths.filter { $0.hasSuffix("media2.m4s") } == ["/first/media2.m4s", "/second/media2.m4s"])
    }

    private static let redundant = """
        #EXTM3U
        #EXT-X-STREAM-INF:BANDWIDTH=300000,PATHWAY-ID="one"
        one/media.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=300000,PATHWAY-ID="two"
        two/media.m3u8
        """

    private func playHLS(_ fault: @escaping @Sendable (String, Int) -> Fault?) async throws -> (
        played: Played, paths: [String]
    ) {
        let profile = PlayerProfile.plain(after: [.useOtherLocation(excludedFor: nil)])
        return try await play("/master.m3u8", profile: profile, fault) { $0 == "/master.m3u8" ? Self.redundant : nil }
    }

    @Test("HLS: a segment that fails is fetched from the other pathway, whose playlist is loaded first")
    func otherPathway() async throws {
        let (played, paths) = try await playHLS { path, _ in path == "/one/media3.ts" ? .status(500) : nil }
        #expect(played.outcome == .ended, "\(played.story)")
        #expect(
            paths == ["/master.m3u8", "/one/media.m3u8"] + (0...3).map { "/one/media\($0).ts" } + ["/two/media.m3u8"]
                + (3...5).map { "/two/media\($0).ts" }
        )
        #expect(played.all(.bufferBegin).count == 1)
        #expect(played.all(.error).allSatisfy { $0.attributes[.isFatal] == false })
    }

    @Test("HLS: a pathway that numbers its segments in another way continues at the same time")
    func otherNumbers() async throws {
        let folder = try Fixtures.hlsTS.get()
        let text = String(decoding: try Fixtures.data(folder + "/media.m3u8"), as: UTF8.self)
        let renumbered = text.replacing("#EXT-X-MEDIA-SEQUENCE:0", with: "#EXT-X-MEDIA-SEQUENCE:70")
        #expect(renumbered != text)
        let profile = PlayerProfile.plain(after: [.useOtherLocation(excludedFor: nil)])
        let (played, paths) = try await play("/master.m3u8", profile: profile) { path, _ in
            path == "/one/media3.ts" ? .status(500) : nil
        } manifest: { path in
            path == "/master.m3u8" ? Self.redundant : path == "/two/media.m3u8" ? renumbered : nil
        }
        #expect(played.outcome == .ended, "\(played.story)")
        #expect(paths.suffix(3) == (3...5).map { "/two/media\($0).ts" }, "\(paths)")
    }

    @Test("HLS: a playlist that fails is loaded from the redundant stream")
    func otherPlaylist() async throws {
        let (played, paths) = try await playHLS { path, _ in path == "/one/media.m3u8" ? .status(404) : nil }
        #expect(played.outcome == .ended, "\(played.story)")
        #expect(paths.prefix(3) == ["/master.m3u8", "/one/media.m3u8", "/two/media.m3u8"])
        #expect(paths.filter { $0.hasSuffix(".ts") }.allSatisfy { $0.hasPrefix("/two/") })
    }
}
