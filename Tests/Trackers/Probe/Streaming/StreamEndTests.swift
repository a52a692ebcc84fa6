import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentProbe

@Suite("Ends of streams, and tracks that are missing in a segment", .ownThread)
struct StreamEndTests {
    /// Twelve seconds of media in segments of two, of which an MPD declares a part.
    private func play(
        _ manifest: String,
        at wallTime: WallTime = WallTime(milliseconds: 0)
    ) async throws -> Played {
        let folder = try Fixtures.hlsMP4.get()
        let clock = VirtualClock(wallTime: wallTime)
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 80_000_000)]) { path in
            if path == "/a.mpd" { return Array(manifest.utf8) }
            return (try? Fixtures.data(folder + path)).map { [UInt8]($0) }
        }
        return await playStream("/a.mpd", over: network, clock, ProbeConfiguration(profile: .plain()))
    }

    private static func manifest(_ attributes: String) -> String {
        """
        <MPD \(attributes)><Period start="PT0S"><AdaptationSet mimeType="video/mp4"><SegmentTemplate timescale="1" \
        duration="2" startNumber="0" initialization="init.mp4" media="media$Number$.m4s"/>\
        <Representation id="a" bandwidth="100000"/></AdaptationSet></Period></MPD>
        """
    }

    @Test("No media behind the end of the presentation is played", arguments: [5, 6, 7])
    func overshoot(seconds: Int) async throws {
        let played = try await play(Self.manifest("type=\"static\" mediaPresentationDuration=\"PT\(seconds)S\""))
        #expect(played.outcome == .ended, "\(played.story)")
        let (start, end) = (try #require(played.time(.start)), try #require(played.time(.end)))
        #expect(abs(end - start - Int64(seconds) * 1000) <= 100, "\(played.story)")
    }

    @Test("A live stream that is over says so, and not that a file is damaged")
    func over() async throws {
        let live = "type=\"dynamic\" availabilityStartTime=\"1970-01-01T00:00:00Z\" timeShiftBufferDepth=\"PT20S\""
        let manifest = Self.manifest("\(live) mediaPresentationDuration=\"PT12S\"")
        let played = try await play(manifest, at: WallTime(milliseconds: 300_000))
        let message = try #require(played.first(.error)?.attributes[.errorDescription])
        #expect(message.contains("no segment that can be played now"), "\(played.story)")
    }

    @Test("A segment without the sound of the segments around it is a warning")
    func missingSound() async throws {
        let (folder, silent) = (try Fixtures.hlsTS.get(), try Fixtures.hlsSilent.get())
        let clock = VirtualClock()
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 80_000_000)]) { path in
            let source = path == "/media2.ts" ? silent : folder
            return (try? Fixtures.data(source + path)).map { [UInt8]($0) }
        }
        let configuration = ProbeConfiguration(profile: .plain())
        let played = await playStream("/media.m3u8", over: network, clock, configuration)
        #expect(played.outcome == .ended, "\(played.story)")
        let warnings = played.all(.streamWarning).filter { $0.attributes[.warningCode] == "missingTrack" }
        let messages = warnings.compactMap { $0.attributes[.warningDescription] }
        #expect(messages == ["segment 2 has no sound, which the segment before has"], "\(played.story)")
    }
}
