import Foundation
import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentProbe

@Suite("Playback with subtitles", .ownThread)
struct SubtitlePlaybackTests {
    private static let cue = "00:00:01.000 --> 00:00:02.000\nWords\n\n"

    private static func media(_ name: String, _ attributes: String) -> String {
        """
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="t",NAME="\(name)",LANGUAGE="\(name)",URI="\(name).m3u8",\(attributes)

        """
    }

    private static func master(_ media: String) -> String {
        """
        #EXTM3U
        \(media)#EXT-X-STREAM-INF:BANDWIDTH=1000000,SUBTITLES="t"
        media.m3u8

        """
    }

    private static let usual = media("en", "DEFAULT=YES,AUTOSELECT=YES") + media("fr", "AUTOSELECT=YES")

    /// Twelve seconds of subtitles in six segments.
    private static func playlist(_ name: String) -> String {
        let segments = (0..<6).map { "#EXTINF:2,\n\(name)\($0).vtt\n" }.joined()
        return "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-PLAYLIST-TYPE:VOD\n\(segments)#EXT-X-ENDLIST\n"
    }

    private func play(
        _ subtitles: SubtitleSelection = .declared,
        master: String = master(usual),
        profile: PlayerProfile = .plain(maximum: .seconds(4)),
        fault: @escaping @Sendable (String, Int) -> SimulatedNetwork.Fault? = { _, _ in nil },
        script: (VirtualClock, Probe) -> Void = { _, _ in }
    ) async throws -> (played: Played, names: [String]) {
        let folder = try Fixtures.hlsTS.get()
        let clock = VirtualClock()
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 80_000_000)], fault: fault) { path in
            let name = String(path.dropFirst())
            if name == "main.m3u8" { return Array(master.utf8) }
            if ["en.m3u8", "fr.m3u8", "de.m3u8"].contains(name) {
                return Array(Self.playlist(String(name.prefix(2))).utf8)
            }
            if name.hasSuffix(".vtt") { return Array(("WEBVTT\n\n" + Self.cue).utf8) }
            return (try? Fixtures.data(folder + "/" + name)).map { [UInt8]($0) }
        }
        let configuration = ProbeConfiguration(profile: profile, subtitles: subtitles)
        let played = await playStream("/main.m3u8", over: network, clock, configuration, script: script)
        return (played, network.names)
    }

    private func warnings(_ played: Played) -> [String] {
        played.all(.streamWarning).compactMap { $0.attributes[.warningCode] }
    }

    private func files(_ names: [String]) -> [String] { names.filter { $0.hasSuffix(".vtt") } }

    @Test("The default subtitles are fetched once, behind video, and counted in every event")
    func declared() async throws {
        let (played, names) = try await play()
        #expect(played.outcome == .ended && warnings(played) == [], "\(played.story)")
        #expect(files(names) == (0..<6).map { "en\($0).vtt" })
        let first = try #require(names.firstIndex(of: "en.m3u8"))
        #expect(names[..<first].contains("media.m3u8"))
        let end = try #require(played.first(.end))
        #expect(end.attributes[.subtitles] == "en" && end.attributes[.countSubtitleCues] == 6)
    }

    @Test("Subtitles follow the playhead and not the bandwidth")
    func ahead() async throws {
        let (played, names) = try await play(script: { clock, probe in
            clock.at(1500) { probe.stop() }
        })
        #expect(played.outcome == .stopped)
        #expect(files(names).count <= 3, "\(names)")
    }

    @Test(
        "The selection chooses the rendition",
        arguments: [
            (SubtitleSelection.off, usual, nil), (.language("fr"), usual, "fr"),
            (.declared, media("fr", "AUTOSELECT=YES"), nil),
            (.declared, media("fr", "DEFAULT=YES,FORCED=YES,AUTOSELECT=YES"), "fr"),
            (.declared, media("fr", "FORCED=YES,AUTOSELECT=YES") + media("en", "DEFAULT=YES"), "en"),
            (.language("FR"), media("fr", "FORCED=YES,AUTOSELECT=YES"), "fr"), (.declared, "", nil),
        ]
    )
    func selection(selection: SubtitleSelection, media: String, expected: String?) async throws {
        let (played, names) = try await play(selection, master: Self.master(media))
        #expect(played.outcome == .ended && warnings(played) == [], "\(played.story)")
        #expect(played.first(.end)?.attributes[.subtitles] == expected)
        #expect(files(names) == (expected.map { name in (0..<6).map { "\(name)\($0).vtt" } } ?? []))
    }

    @Test("A language that the stream lacks is one warning, which names the languages that it has")
    func absent() async throws {
        let (played, names) = try await play(.language("de"))
        #expect(played.outcome == .ended && files(names).isEmpty)
        let found = played.all(.streamWarning)
        #expect(warnings(played) == ["missingSubtitles"])
        #expect(found.first?.attributes[.warningDescription]?.contains("(found en, fr)") == true)
    }

    @Test("A request that never ends is late, then missing, and playback neither stalls nor fails")
    func late() async throws {
        let (played, names) = try await play { path, _ in path == "/en2.vtt" ? .hang : nil }
        #expect(played.outcome == .ended && played.all(.bufferBegin).count == 1, "\(played.story)")
        #expect(warnings(played) == ["lateSubtitles", "missingSubtitles"], "\(played.story)")
        let begun = try #require(played.time(.start))
        let told = try #require(played.all(.streamWarning).first?.time.instant.milliseconds)
        // The third segment begins after four seconds.
        #expect(told == begun + 4000 || told == begun + 4001)
        #expect(files(names).last == "en5.vtt")
    }

    @Test("Subtitles whose requests fail are late for the reason of the failure")
    func failing() async throws {
        let profile = PlayerProfile.plain(maximum: .seconds(4), retries: 20)
        let (played, _) = try await play(profile: profile) { path, _ in path == "/en2.vtt" ? .status(404) : nil }
        let late = played.all(.streamWarning).filter { $0.attributes[.warningCode] == "lateSubtitles" }
        let message = try #require(late.first?.attributes[.warningDescription], "\(played.story)")
        #expect(message.contains("before the playhead: ") && message.contains("404"), "\(message)")
    }

    @Test("Subtitles that arrive behind the playhead are late and are counted")
    func lateArrival() async throws {
        let (played, _) = try await play { path, _ in path == "/en2.vtt" ? .late(4_700_000_000) : nil }
        #expect(played.outcome == .ended && played.all(.bufferBegin).count == 1)
        #expect(warnings(played).allSatisfy { $0 == "lateSubtitles" } && !warnings(played).isEmpty)
        #expect(played.first(.end)?.attributes[.countSubtitleCues] == 6)
    }

    @Test("A missing segment is retried by the profile, reported, and followed by the next one")
    func missing() async throws {
        let profile = PlayerProfile.plain(retries: 2)
        let (played, names) = try await play(profile: profile) { path, _ in path == "/en1.vtt" ? .status(404) : nil }
        #expect(played.outcome == .ended, "\(played.story)")
        #expect(warnings(played).filter { $0 == "missingSubtitles" }.count == 1)
        #expect(files(names).filter { $0 == "en1.vtt" }.count == 3)
        #expect(played.first(.end)?.attributes[.countSubtitleCues] == 5)
        #expect(!played.actions.contains(.error))
    }

    @Test(
        "Warnings about malformed subtitles are limited",
        arguments: ["<html/>", "\u{0}\u{1}", "WEBVTT\n\n1 --> 2\n"]
    )
    func malformed(text: String) async throws {
        let (played, _) = try await play { path, _ in path.hasSuffix(".vtt") ? .bytes(Array(text.utf8)) : nil }
        #expect(played.outcome == .ended && played.all(.bufferBegin).count == 1)
        #expect(warnings(played) == Array(repeating: "malformedSubtitles", count: 5))
        #expect(played.first(.end)?.attributes[.countSubtitleCues] == 0)
    }

    @Test("A playlist of subtitles that fails leaves a playback without subtitles", arguments: [404, 503])
    func playlistFails(status: Int) async throws {
        let (played, names) = try await play { path, _ in path == "/en.m3u8" ? .status(status) : nil }
        #expect(played.outcome == .ended && !played.actions.contains(.error), "\(played.story)")
        #expect(warnings(played) == ["missingSubtitles"] && files(names).isEmpty)
    }

    @Test("After a jump, subtitles continue there, and none are fetched twice")
    func jump() async throws {
        let (played, names) = try await play(script: { clock, probe in
            clock.at(500) { probe.seek(to: .seconds(8)) }
            clock.at(2000) { probe.seek(to: .seconds(0)) }
        })
        #expect(played.outcome == .ended, "\(played.story)")
        #expect(Set(files(names)).count == files(names).count && files(names).contains("en4.vtt"), "\(names)")
    }

    private static func manifest(_ text: String) -> String {
        """
        <MPD type="static" mediaPresentationDuration="PT12S"><Period id="p">\
        <AdaptationSet mimeType="video/mp4"><SegmentTemplate timescale="1" duration="2" startNumber="0" \
        initialization="init.mp4" media="media$Number$.m4s"/><Representation id="v" bandwidth="200000"/>\
        </AdaptationSet>\(text)</Period></MPD>
        """
    }

    private static func set(_ type: String, _ addressing: String, role: String = "main") -> String {
        """
        <AdaptationSet contentType="text" \(type) lang="en">\
        <Role schemeIdUri="urn:mpeg:dash:role:2011" value="\(role)"/>\
        <Representation id="t" bandwidth="500">\(addressing)</Representation></AdaptationSet>
        """
    }

    @Test(
        "DASH: subtitles in one file and in segments are fetched and counted",
        arguments: [
            (set("mimeType=\"text/vtt\"", "<BaseURL>all.vtt</BaseURL>"), ["all.vtt"], 2),
            (set("mimeType=\"application/ttml+xml\"", "<BaseURL>all.ttml</BaseURL>"), ["all.ttml"], 3),
            (
                set(
                    "mimeType=\"application/mp4\" codecs=\"stpp\"",
                    """
                    <SegmentTemplate timescale="1" duration="6" startNumber="0" initialization="text.init" \
                    media="text$Number$.m4s"/>
                    """
                ), ["text.init", "text0.m4s", "text1.m4s"], 4
            ), (set("mimeType=\"text/vtt\"", "<BaseURL>all.vtt</BaseURL>", role: "subtitle"), [], nil),
        ]
    )
    func dash(set: String, expected: [String], cues: Int?) async throws {
        let folder = try Fixtures.hlsMP4.get()
        let clock = VirtualClock()
        let document =
            "<tt xmlns=\"http://www.w3.org/ns/ttml\"><body><p begin=\"1s\"/><p begin=\"2s\"/><p begin=\"3s\"/></body></tt>"
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 80_000_000)]) { path in
            switch path {
            case "/main.mpd": return Array(Self.manifest(set).utf8)
            case "/all.vtt": return Array(("WEBVTT\n\n" + Self.cue + Self.cue).utf8)
            case "/all.ttml": return Array(document.utf8)
            case "/text.init": return Boxes.initialization("stpp")
            case "/text0.m4s", "/text1.m4s":
                return Boxes.segment([
                    Array(document.utf8), Array("<tt xmlns=\"http://www.w3.org/ns/ttml\"/>".utf8), Array(document.utf8),
                ])
            default: return (try? Fixtures.data(folder + path)).map { [UInt8]($0) }
            }
        }
        let played = await playStream("/main.mpd", over: network, clock, ProbeConfiguration(profile: .plain()))
        #expect(played.outcome == .ended, "\(played.story)")
        #expect(!warnings(played).contains { $0.hasSuffix("Subtitles") }, "\(warnings(played))")
        #expect(network.names.filter { expected.contains($0) } == expected, "\(network.names)")
        #expect(played.first(.end)?.attributes[.countSubtitleCues] == cues)
    }
}
