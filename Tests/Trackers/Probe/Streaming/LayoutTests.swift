import Foundation
import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentProbe

/// Variants over the segments of any fixtures, with or without a group of audio.
struct MixedLadder: Sendable {
    struct Variant: Sendable {
        var media: Result<String, FixtureError>
        var hasAudioGroup = false
    }

    var variants: [Variant]
    /// The renditions of the audio group.
    var audio: Result<String, FixtureError> = Fixtures.hlsSound

    func resource(_ path: String) -> [UInt8]? {
        let parts = path.split(separator: "/").map(String.init)
        if path == "/master.m3u8" { return Array(master.utf8) }
        guard parts.count == 2 else { return nil }
        if parts[0] == "audio" { return read(audio, parts[1]) }
        guard let number = Int(parts[0].dropFirst()), variants.indices.contains(number) else { return nil }
        return read(variants[number].media, parts[1])
    }

    private func read(_ folder: Result<String, FixtureError>, _ name: String) -> [UInt8]? {
        (try? Fixtures.data(folder.get() + "/" + name)).map { [UInt8]($0) }
    }

    private var master: String {
        var text = "#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"A\",DEFAULT=YES,URI=\"audio/media.m3u8\"\n"
        for (index, variant) in variants.enumerated() {
            text +=
                "#EXT-X-STREAM-INF:BANDWIDTH=\((index + 1) * 500_000)\(variant.hasAudioGroup ? ",AUDIO=\"a\"" : "")\n"
            text += "v\(index)/media.m3u8\n"
        }
        return text
    }
}

/// Changes the rung after this number of segments.
struct TurnsAt: AdaptationRule {
    var rungs: [Int]
    var every = 2

    mutating func decide(in context: AdaptationContext) -> AdaptationDecision {
        AdaptationDecision(rung: rungs[min(context.segment.index / every, rungs.count - 1)])
    }
}

@Suite("Variants of different structure", .ownThread)
struct LayoutTests {
    private func play(_ ladder: MixedLadder, _ rule: any AdaptationRule) async throws -> (Played, SimulatedNetwork) {
        for variant in ladder.variants { _ = try variant.media.get() }
        _ = try ladder.audio.get()
        let clock = VirtualClock()
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 8_000_000)]) { ladder.resource($0) }
        let configuration = ProbeConfiguration(profile: .plain(maximum: .seconds(6), rule: rule))
        return (await playStream("/master.m3u8", over: network, clock, configuration), network)
    }

    @Test("A switch to a variant with multiplexed audio causes no stall")
    func soundInside() async throws {
        let ladder = MixedLadder(variants: [
            .init(media: Fixtures.hlsTS, hasAudioGroup: true), .init(media: Fixtures.hlsTS),
        ])
        for rungs in [[0, 1, 1], [1, 0, 0], [0, 1, 0]] {
            let (played, network) = try await play(ladder, TurnsAt(rungs: rungs))
            #expect(played.outcome == .ended, "\(rungs): \(played.story)")
            #expect(played.all(.bufferBegin).count == 1, "\(rungs): \(played.story)")
            #expect(Set(network.requests.map(\.path)).count == network.requests.count, "\(network.requests)")
        }
    }

    @Test("Playback switches to an audio-only variant and back")
    func soundAlone() async throws {
        let ladder = MixedLadder(variants: [.init(media: Fixtures.hlsSound), .init(media: Fixtures.hlsTS)])
        for rungs in [[1, 0, 1], [1, 0, 0], [0, 1, 1]] {
            let (played, _) = try await play(ladder, TurnsAt(rungs: rungs))
            #expect(played.outcome == .ended, "\(rungs): \(played.story)")
            #expect(played.all(.bufferBegin).count == 1, "\(rungs): \(played.story)")
        }
    }

    @Test("An audio rendition without an audio track is wrong content, not an endless wait")
    func silentSound() async throws {
        let ladder = MixedLadder(
            variants: [.init(media: Fixtures.hlsTS, hasAudioGroup: true)],
            audio: Fixtures.hlsSilent
        )
        let (played, _) = try await play(ladder, FixedRule(.lowest))
        guard case .failed(let error) = played.outcome else {
            Issue.record("\(played.story)")
            return
        }
        #expect(error.code == .wrongContent && error.phase == .segment)
    }

    @Test("A jump of a day inside a segment does not lengthen the segment")
    func longSegment() async throws {
        let clock = VirtualClock()
        let (near, late) = (try Fixtures.hlsTS.get(), try Fixtures.hlsLate.get())
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 8_000_000)]) { path in
            guard var bytes = try? Fixtures.data(near + path) else { return nil }
            if path == "/media1.ts", let more = try? Fixtures.data(late + "/media2.ts") { bytes += more }
            return [UInt8](bytes)
        }
        let profile = PlayerProfile.plain(maximum: .seconds(4))
        let played = await playStream("/media.m3u8", over: network, clock, ProbeConfiguration(profile: profile))
        #expect(played.outcome == .ended)
        #expect(network.names.last == "media5.ts")
        #expect(played.time(.end).map { $0 < 40_000 } == true, "\(played.story)")
    }
}

@Suite("Playlists with holes", .ownThread)
struct HoleTests {
    private func playlist(gaps: Int, media: Int) -> String {
        var text = "#EXTM3U\n#EXT-X-VERSION:8\n#EXT-X-TARGETDURATION:2\n"
        for number in 0..<gaps { text += "#EXTINF:2,\n#EXT-X-GAP\ngap\(number).ts\n" }
        for number in 0..<media { text += "#EXTINF:2,\nmedia\(number).ts\n" }
        return text + "#EXT-X-ENDLIST\n"
    }

    @Test(
        "Playback starts after any number of gaps at the beginning of a stream",
        arguments: [3, 20, 2500]
    )
    func gapsFirst(count: Int) async throws {
        let folder = try Fixtures.hlsTS.get()
        let clock = VirtualClock()
        let text = playlist(gaps: count, media: 6)
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 8_000_000)]) { path in
            path.hasSuffix("m3u8") ? Array(text.utf8) : (try? Fixtures.data(folder + path)).map { [UInt8]($0) }
        }
        let played = await playStream("/media.m3u8", over: network, clock, ProbeConfiguration(profile: .plain()))
        #expect(played.outcome == .ended, "\(played.story)")
        #expect(network.names == ["media.m3u8"] + (0..<6).map { "media\($0).ts" })
        #expect(played.first(.start)?.attributes[.position] == .seconds(count * 2))
    }

    @Test("A stream of gaps only is an error")
    func onlyGaps() async throws {
        let clock = VirtualClock()
        let text = playlist(gaps: 30, media: 0)
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 8_000_000)]) { _ in Array(text.utf8) }
        let played = await playStream("/media.m3u8", over: network, clock, ProbeConfiguration(profile: .plain()))
        guard case .failed(let error) = played.outcome else {
            Issue.record("\(played.story)")
            return
        }
        #expect(error.code == .endedEarly)
    }
}
