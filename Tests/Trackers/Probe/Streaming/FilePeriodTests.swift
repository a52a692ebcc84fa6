import Foundation
import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentProbe

@Suite("Periods that are one file with an index", .ownThread)
struct FilePeriodTests {
    /// One file: its initialization section, an index of its fragments, and the fragments.
    private struct IndexedFile {
        var bytes: [UInt8]
        var indexRange: Range<Int>
        /// `@indexRange`.
        var declaredRange: String { "\(indexRange.lowerBound)-\(indexRange.upperBound - 1)" }

        /// - Parameter levels: the number of indexes above one another.
        init(padding: Int = 0, levels: Int = 1) throws {
            let folder = try Fixtures.hlsMP4.get()
            func load(_ name: String) throws -> [UInt8] { [UInt8](try Fixtures.data(folder + "/" + name)) }
            let start = try load("init.mp4") + Self.box("free", [UInt8](repeating: 0, count: padding))
            let media = try (0..<6).map { try load("media\($0).m4s") }
            var index = Self.sidx(media.map { UInt32($0.count) })
            for _ in 1..<max(1, levels) { index = Self.sidx([1 << 31 | UInt32(index.count)], duration: 12) + index }
            bytes = start + index + media.joined()
            indexRange = start.count..<(start.count + index.count)
        }

        private static func number(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }

        private static func box(_ type: String, _ body: [UInt8]) -> [UInt8] {
            number(UInt32(body.count + 8)) + Array(type.utf8) + body
        }

        private static func sidx(_ sizes: [UInt32], duration: UInt32 = 2) -> [UInt8] {
            let references = sizes.flatMap { number($0) + number(duration) + number(0x9000_0000) }
            let header: [UInt32] = [0, 1, 1, 0, 0, UInt32(sizes.count)]
            return box("sidx", header.flatMap(number) + references)
        }
    }

    private static func representation(_ base: String) -> String {
        """
        <AdaptationSet id="0" mimeType="video/mp4"><Representation id="a" bandwidth="100000">\
        <BaseURL>file.mp4</BaseURL>\(base)</Representation></AdaptationSet>
        """
    }

    private static func live(_ periods: String) -> String {
        """
        <MPD type="dynamic" availabilityStartTime="1970-01-01T00:00:00Z" minimumUpdatePeriod="PT2S" \
        suggestedPresentationDelay="PT2S">\(periods)</MPD>
        """
    }

    private func play(
        _ file: IndexedFile,
        from milliseconds: Int64 = 4000,
        until limit: Duration = .seconds(60),
        profile: PlayerProfile = .plain(),
        script: (VirtualClock, Probe) -> Void = { _, _ in },
        manifest: @escaping @Sendable (Int) -> String
    ) async throws -> (Played, SimulatedNetwork) {
        let folder = try Fixtures.hlsMP4.get()
        let clock = VirtualClock(wallTime: WallTime(milliseconds: milliseconds))
        let count = Lock(0)
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 80_000_000)]) { path in
            if path.hasPrefix("/file") { return file.bytes }
            guard path.hasSuffix("mpd") else {
                let name = path.split(separator: "/").last ?? ""
                return (try? Fixtures.data(folder + "/" + name)).map { [UInt8]($0) }
            }
            let number = count.withLock { count in
                count += 1
                return count
            }
            return Array(manifest(number).utf8)
        }
        let configuration = ProbeConfiguration(profile: profile)
        let played = await playStream("/a.mpd", over: network, clock, configuration, until: limit, script: script)
        return (played, network)
    }

    /// A recording of three periods of twelve seconds, each one file.
    private func recording(_ file: IndexedFile) -> String {
        let periods = (1...3).map { number in
            let base = Self.representation("<SegmentBase indexRange=\"\(file.declaredRange)\"/>")
            return "<Period duration=\"PT12S\">\(base.replacing("file.mp4", with: "file\(number).mp4"))</Period>"
        }
        return "<MPD type=\"static\">\(periods.joined())</MPD>"
    }

    /// dash.js looks for segments that do not exist yet every 500 ms; it has 18 s in the buffer, with one rung 30 s.
    private static var dashJS: PlayerProfile {
        var profile = PlayerProfile.dashJS
        profile.topRungBuffer = nil
        return profile
    }

    @Test(
        "The index of a recording's next period is fetched when the track reaches it",
        arguments: [PlayerProfile.plain(maximum: .seconds(8)), dashJS]
    )
    func laterPeriod(profile: PlayerProfile) async throws {
        let file = try IndexedFile()
        let (played, network) = try await play(file, profile: profile) { _ in recording(file) }
        #expect(played.outcome == .ended, "\(played.story)")
        #expect(played.all(.bufferBegin).count == 1)
        // Each file: its index, its initialization section, and six segments.
        for number in 1...3 { #expect(network.names.count { $0 == "file\(number).mp4" } == 8, "\(network.names)") }
        let second = try #require(network.requests.first { $0.path == "/file2.mp4" })
        let third = try #require(network.requests.first { $0.path == "/file3.mp4" })
        let start = try #require(played.time(.start)) * 1_000_000
        #expect(start < second.instant || profile.name == "dashjs")
        #expect(third.instant > second.instant + 1_000_000_000)
        // The segment behind the index is requested as soon as the index is there.
        let media = try #require(network.requests.filter { $0.path == "/file2.mp4" }.dropFirst().first)
        #expect(media.instant - second.instant < 100_000_000)
    }

    @Test("Playback that starts in a later period, or seeks there, reads the indexes before it", arguments: [0, 3000])
    func startInLaterPeriod(delay: Int64) async throws {
        let file = try IndexedFile()
        let (played, network) = try await play(file, profile: .plain(maximum: .seconds(8))) { clock, probe in
            if delay == 0 { probe.seek(to: .seconds(30)) } else { clock.at(delay) { probe.seek(to: .seconds(30)) } }
        } manifest: { _ in
            recording(file)
        }
        #expect(played.outcome == .ended, "\(played.story)")
        // The index alone; of the last one the section and three segments as well.
        #expect(network.names.count { $0 == "file2.mp4" } == 1, "\(network.names)")
        #expect(network.names.count { $0 == "file3.mp4" } == 5, "\(network.names)")
        let end = try #require(played.all(.end).first?.time.instant.milliseconds)
        #expect(end < 12_000, "\(played.story)")
    }

    @Test("The file of a live period is indexed once, and the MPD is reloaded in its rhythm", arguments: [false, true])
    func livePeriod(endIsKnown: Bool) async throws {
        let file = try IndexedFile()
        let base = Self.representation("<SegmentBase indexRange=\"\(file.declaredRange)\"/>")
        let (played, network) = try await play(file, until: .seconds(19)) { number in
            Self.live("<Period start=\"PT0S\"\(endIsKnown && number > 2 ? " duration=\"PT30S\"" : "")>\(base)</Period>")
        }
        #expect(played.first(.start) != nil && !played.actions.contains(.error), "\(played.story)")
        // The file is complete: an MPD that does not change is not late.
        let warnings = played.all(.streamWarning).compactMap { $0.attributes[.warningCode] }
        #expect(!warnings.contains("latePlaylist"), "\(played.story)")
        #expect(network.names.count { $0 == "a.mpd" } == 10, "\(network.names)")
        // The index, the initialization section, and the segments from the live edge on.
        #expect(4...7 ~= network.names.count { $0 == "file.mp4" }, "\(network.names)")
    }

    @Test("The quality of a segment has the bitrate that its own period declares")
    func bitrateOfPeriod() async throws {
        func period(_ first: Int, _ bandwidth: Int) -> String {
            """
            <Period duration="PT6S"><AdaptationSet mimeType="video/mp4"><SegmentTemplate timescale="1" duration="2" \
            startNumber="\(first)" presentationTimeOffset="\(first * 2)" initialization="init.mp4" \
            media="media$Number$.m4s"/><Representation id="a" bandwidth="\(bandwidth)"/></AdaptationSet></Period>
            """
        }
        let text = "<MPD type=\"static\">\(period(0, 4_000_000) + period(3, 5_000_000))</MPD>"
        let (played, _) = try await play(try IndexedFile()) { _ in text }
        #expect(played.outcome == .ended, "\(played.story)")
        #expect(played.actions.contains(.qualityChangeUp), "\(played.story)")
    }

    @Test("A file without segment information in a live MPD is no loop of requests")
    func bareFile() async throws {
        let file = try IndexedFile()
        let (_, network) = try await play(file, until: .seconds(9)) { _ in
            Self.live("<Period start=\"PT0S\">\(Self.representation(""))</Period>")
        }
        #expect(network.names.count { $0 == "a.mpd" } <= 5 && network.names.count <= 8, "\(network.names)")
    }

    @Test("A file that a reload adds behind live segments continues them")
    func addedPeriod() async throws {
        let file = try IndexedFile()
        let base = Self.representation("<SegmentBase indexRange=\"\(file.declaredRange)\"/>")
        let template = """
            <AdaptationSet id="0" mimeType="video/mp4"><SegmentTemplate timescale="1" duration="2" startNumber="0" \
            initialization="init.mp4" media="media$Number$.m4s"/><Representation id="a" bandwidth="100000"/></AdaptationSet>
            """
        let (played, network) = try await play(file, until: .seconds(20)) { number in
            let second = number < 3 ? "" : "<Period start=\"PT10S\">\(base)</Period>"
            return Self.live("<Period start=\"PT0S\">\(template)</Period>\(second)")
        }
        #expect(!played.actions.contains(.error), "\(played.story)")
        let media = network.names.filter { $0 != "a.mpd" && $0 != "init.mp4" }
        #expect(
            media.prefix { $0 != "file.mp4" } == ["media1.m4s", "media2.m4s", "media3.m4s", "media4.m4s"],
            "\(media)"
        )
        // The index, its initialization section, and the segments.
        #expect(4...8 ~= media.count { $0 == "file.mp4" }, "\(media)")
        #expect(9...12 ~= network.names.count { $0 == "a.mpd" }, "\(network.names)")
    }

    @Test(
        "An index whose place is unknown, or that refers to others, is found",
        arguments: [(0, 1, false), (70_000, 1, false), (0, 3, true), (0, 3, false), (200_000, 2, false)]
    )
    func unknownIndex(padding: Int, levels: Int, isDeclared: Bool) async throws {
        let file = try IndexedFile(padding: padding, levels: levels)
        let base = Self.representation("<SegmentBase\(isDeclared ? " indexRange=\"\(file.declaredRange)\"" : "")/>")
        let (played, network) = try await play(file) { _ in
            "<MPD type=\"static\" mediaPresentationDuration=\"PT12S\"><Period>\(base)</Period></MPD>"
        }
        #expect(played.outcome == .ended, "\(played.story)")
        // One or two requests of the index, the initialization section, and six segments.
        #expect(network.names.count { $0 == "file.mp4" } <= 9, "\(network.names)")
    }
}
