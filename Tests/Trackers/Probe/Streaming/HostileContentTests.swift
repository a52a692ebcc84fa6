import Foundation
import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentProbe

/// Manifests and media with false declarations, over a simulated network, in virtual time.
@Suite("Hostile content", .ownThread, .timeLimit(.minutes(30)))
struct HostileContentTests {
    private func play(
        _ path: String = "/a.m3u8",
        until limit: Duration = .seconds(600),
        _ resource: @escaping @Sendable (String) -> [UInt8]?
    ) async -> (ProbeError?, Played, SimulatedNetwork) {
        let clock = VirtualClock()
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 100_000_000)], resource: resource)
        let configuration = ProbeConfiguration(profile: .plain())
        let played = await playStream(path, over: network, clock, configuration, until: limit)
        if case .failed(let error) = played.outcome { return (error, played, network) }
        return (nil, played, network)
    }

    private static func bytes(_ folder: Result<String, FixtureError>, _ name: String) throws -> [UInt8] {
        [UInt8](try Fixtures.data(folder.get() + "/" + name))
    }

    static let addresses = [
        "file:///etc/passwd", "concat:a.ts|b.ts", "subfile:,,start,0,end,0,,:/etc/passwd", "pipe:0",
        "crypto:file:/etc/passwd", "data:video/mp2t;base64,R0A=", "ftp://127.0.0.1/a.ts", "FILE:/etc/passwd",
        "unix:/run/a.sock", "http:/\u{5C}/etc/passwd\u{0}", "http://[::1",
    ]

    @Test("A playlist cannot make the probe fetch anything but HTTP", arguments: addresses)
    func schemes(address: String) async {
        let head = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n"
        let tail = "#EXTINF:2,\na.ts\n#EXT-X-ENDLIST\n"
        let manifests = [
            "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000\n\(address)\n",
            head + "#EXTINF:2,\n\(address)\n#EXT-X-ENDLIST\n",
            head + "#EXT-X-KEY:METHOD=AES-128,URI=\"\(address)\"\n" + tail,
            head + "#EXT-X-MAP:URI=\"\(address)\"\n" + tail,
            "#EXTM3U\n#EXT-X-DEFINE:NAME=\"x\",VALUE=\"\(address)\"\n#EXT-X-STREAM-INF:BANDWIDTH=1000\n{$x}\n",
        ]
        for manifest in manifests {
            let (error, _, network) = await play { $0 == "/a.m3u8" ? Array(manifest.utf8) : nil }
            let codes: [ProbeError.Code] = [.refusedAddress, .invalidManifest, .unsupportedStream, .notFound]
            #expect(error.map { codes.contains($0.code) } == true, "\(manifest): \(error as Any)")
            #expect(error?.message.contains("passwd") == false)
            // A text that resolves to a web address is requested from that address.
            #expect(network.requests.count <= 2 && network.requests.first?.path == "/a.m3u8", "\(network.requests)")
        }
    }

    @Test("An MPD cannot make the probe fetch anything but HTTP", arguments: addresses)
    func mpdSchemes(address: String) async {
        let text = """
            <MPD type="static" mediaPresentationDuration="PT4S"><Period><AdaptationSet mimeType="video/mp4">\
            <Representation id="a" bandwidth="1"><BaseURL>\(address.filter { $0 != "\0" })</BaseURL>\
            <SegmentTemplate media="$Number$.m4s" initialization="i.mp4" duration="2"/>\
            </Representation></AdaptationSet></Period></MPD>
            """
        let (error, _, network) = await play("/a.mpd") { $0 == "/a.mpd" ? Array(text.utf8) : nil }
        #expect(error != nil)
        #expect(network.requests.count <= 2)
    }

    @Test("Entities are not expanded")
    func entities() async {
        var text = "<!DOCTYPE MPD [<!ENTITY a0 \"aaaaaaaaaa\">"
        for level in 1..<30 { text += "<!ENTITY a\(level) \"&a\(level - 1);&a\(level - 1);\">" }
        let bomb = text + "]><MPD><Period>&a29;</Period></MPD>"
        let (error, _, _) = await play("/a.mpd") { _ in Array(bomb.utf8) }
        #expect(error?.phase == .manifest, "\(error as Any)")
    }

    @Test(
        "Invalid and extreme durations end in an error or an end in bounded time",
        arguments: ["nan", "inf", "-5", "0", "1e308", "9223372036854775807", "18446744073709551616", "0x7FFF", ""]
    )
    func durations(text: String) async throws {
        let media = try Self.bytes(Fixtures.hlsTS, "media0.ts")
        for target in [text, "2"] {
            let lines = (0..<20).map { "#EXTINF:\(text),\na\($0).ts\n" }.joined()
            let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:\(target)\n" + lines + "#EXT-X-ENDLIST\n"
            let (_, played, network) = await play { $0 == "/a.m3u8" ? Array(playlist.utf8) : media }
            #expect(played.outcome != nil, "\(text): \(played.story.suffix(3))")
            #expect(network.requests.count <= 21)
        }
    }

    @Test("A live playlist with zero durations is requested at most twice per second")
    func liveZeros() async {
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:0\n#EXTINF:0,\na.ts\n"
        let (_, _, network) = await play(until: .seconds(100)) { $0 == "/a.m3u8" ? Array(playlist.utf8) : [] }
        #expect(network.requests.count <= 405, "\(network.requests.count)")
    }

    @Test(
        "Twenty thousand variants or segments are an error or are played in bounded time",
        arguments: ["variant", "segment"]
    )
    func millions(of what: String) async throws {
        let media = try Self.bytes(Fixtures.hlsTS, "media0.ts")
        let playlist =
            what == "variant"
            ? "#EXTM3U\n" + (0..<20_000).map { "#EXT-X-STREAM-INF:BANDWIDTH=\($0 + 1)\n\($0).m3u8\n" }.joined()
            : "#EXTM3U\n#EXT-X-TARGETDURATION:2\n" + (0..<120_000).map { "#EXTINF:2,\n\($0).ts\n" }.joined()
                + "#EXT-X-ENDLIST\n"
        let (error, _, network) = await play(until: .seconds(20)) { path in
            path == "/a.m3u8" ? Array(playlist.utf8) : path.hasSuffix("ts") ? media : nil
        }
        #expect(network.requests.count < 60)
        if let error { #expect([.tooLarge, .notFound].contains(error.code), "\(error)") }
    }

    @Test(
        "A segment of another type is wrong content",
        arguments: [
            "<html>log in</html>", "#EXTM3U\n#EXTINF:2,\nfile:///etc/passwd\n", "\u{89}PNG\r\n\u{1A}\n", "%PDF-1.7", "",
            "ffconcat version 1.0\nfile /etc/passwd\n", "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\n", "RIFF0000AVI LIST",
        ]
    )
    func disguised(text: String) async {
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\na.ts\n#EXT-X-ENDLIST\n"
        let (error, _, network) = await play { $0 == "/a.m3u8" ? Array(playlist.utf8) : Array(text.utf8) }
        #expect(error?.code == .wrongContent && error?.phase == .segment, "\(error as Any)")
        let words = [
            "": "an empty body", "<html>log in</html>": "an HTML page", "%PDF-1.7": "not media of a known format",
        ]
        if let noun = words[text] {
            #expect(error?.message.hasPrefix("the segment is \(noun)") == true, "\(error as Any)")
        }
        #expect(network.requests.count == 2)
    }

    /// Sets the eight (or four) bytes after the name of a box to ones, except the sign.
    private static func spoiled(_ bytes: [UInt8], _ box: String, at distance: Int, _ value: [UInt8]) -> [UInt8] {
        var bytes = bytes
        guard let range = bytes.firstRange(of: Array(box.utf8)) else { return bytes }
        let start = range.upperBound + distance
        for (index, byte) in value.enumerated() where start + index < bytes.count { bytes[start + index] = byte }
        return bytes
    }

    @Test(
        "Fragments with false sample counts and times end in an error or an end",
        arguments: [
            ("trun", 4, [0x7F, 0xFF, 0xFF, 0xFF]), ("trun", 4, [0xFF, 0xFF, 0xFF, 0xFF]),
            // Fields of samples are left out: sixty million samples of the default size.
            ("trun", 0, [0, 0, 0, 1, 0x03, 0x93, 0x87, 0x00]),
            ("tfdt", 4, [UInt8](repeating: 0xFF, count: 8)), ("tfdt", 4, [0x7F] + [UInt8](repeating: 0xFF, count: 7)),
            ("mdat", -8, [0xFF, 0xFF, 0xFF, 0xFF]), ("moof", -8, [0, 0, 0, 1]), ("tfhd", 0, [0xFF, 0xFF, 0xFF, 0xFF]),
            ("traf", -8, [0xFF, 0xFF, 0xFF, 0xF0]),
        ] as [(String, Int, [UInt8])]
    )
    func fragments(box: String, distance: Int, value: [UInt8]) async throws {
        let folder = try Fixtures.hlsMP4.get()
        let (_, played, network) = await play("/media.m3u8") { path in
            guard let bytes = (try? Fixtures.data(folder + path)).map({ [UInt8]($0) }) else { return nil }
            return path.hasSuffix("m4s") ? Self.spoiled(bytes, box, at: distance, value) : bytes
        }
        #expect(played.outcome != nil, "\(box): \(played.story.suffix(3))")
        #expect(Set(network.names).count == network.names.count)
    }

    @Test("Playback ends or fails when initialization sections contain false values", arguments: 0..<Rounds.of(60))
    func initialization(seed: Int) async throws {
        let folder = try Fixtures.hlsMP4.get()
        var random = SeededGenerator(seed: UInt64(seed))
        var spoiled = try Self.bytes(Fixtures.hlsMP4, "init.mp4")
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let place = Int.random(in: 0..<spoiled.count - 4, using: &random)
            for offset in 0..<Int.random(in: 1...4, using: &random) {
                spoiled[place + offset] =
                    [0x7F, 0xFF, 0x80, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random) ?? 0
            }
        }
        let initialization = spoiled
        let (_, played, _) = await play("/media.m3u8") { path in
            path.hasSuffix("init.mp4") ? initialization : (try? Fixtures.data(folder + path)).map { [UInt8]($0) }
        }
        #expect(played.outcome != nil)
    }

    @Test("An index with false values is an error")
    func indexBox() async {
        let text = """
            <MPD type="static" mediaPresentationDuration="PT4S"><Period><AdaptationSet mimeType="video/mp4">\
            <Representation id="a" bandwidth="1"><BaseURL>a.mp4</BaseURL><SegmentBase indexRange="0-99">\
            <Initialization range="100-200"/></SegmentBase></Representation></AdaptationSet></Period></MPD>
            """
        for fill: UInt8 in [0, 0xFF, 0x7F] {
            var file = [UInt8](repeating: fill, count: 4000)
            file.replaceSubrange(0..<12, with: [0, 0, 0, 100, 0x73, 0x69, 0x64, 0x78, 0, 0, 0, 0])
            let bytes = file
            let (error, _, network) = await play("/a.mpd") { $0 == "/a.mpd" ? Array(text.utf8) : bytes }
            #expect(error != nil)
            #expect(network.requests.count <= 4)
        }
    }
}
