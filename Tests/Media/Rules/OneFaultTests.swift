import Instrument
import InstrumentHTTP
import InstrumentManifests
import InstrumentRules
import TestTraits
import Testing

@testable import InstrumentCheck

/// A fault is found once and as what it is, whatever follows from it.
@Suite("One fault is one finding", .ownThread, .timeLimit(.minutes(30)))
struct OneFaultTests {
    /// What a check finds, where the playlists or manifests with an ending are changed.
    private func found(
        _ path: String,
        rewriting ending: String,
        segments: Int = 2,
        _ change: @escaping @Sendable (String) -> String
    ) async throws -> [String] {
        let report = try await RuleTableTests.check(
            path,
            change: { response in
                guard response.url.path.hasSuffix(ending) else { return }
                response.body = Array(change(String(decoding: response.body, as: UTF8.self)).utf8)
            },
            configure: { $0.segmentCount = segments }
        )
        return report.findings.map { "\($0.rule) \($0.problem.found)" }
    }

    // MARK: Byte ranges

    @Test("A byte range that reaches beyond its file is one finding", arguments: [1, 1_000])
    func longRange(excess: Int) async throws {
        let report = try await RuleTableTests.check(
            "vod/range/v0.m3u8",
            change: { response in
                if response.url.path.hasSuffix(".m3u8") {
                    var lines = String(decoding: response.body, as: UTF8.self).lines
                    guard let last = lines.lastIndex(where: { $0.hasPrefix("#EXT-X-BYTERANGE:") }) else { return }
                    let numbers = lines[last].split { !$0.isNumber }.compactMap { Int($0) }
                    guard let length = numbers.first else { return }
                    lines[last] = lines[last].replacing("\(length)", with: "\(length + excess)", maxReplacements: 1)
                    response.body = Array(lines.joined(separator: "\n").utf8)
                } else if response.status == 200 {
                    // The server has no bytes behind the end of the file.
                    (response.status, response.body) = (416, [])
                }
            },
            configure: { $0.segmentCount = 20 }
        )
        #expect(report.findings.map(\.rule) == ["byte-range-wrong"], "\(report.findings.map(\.message))")
        #expect(report.outcome == .findings && report.readSegmentCount > 5)
    }

    @Test("A file that was cut inside one of its byte ranges is one finding")
    func cutFile() async throws {
        let report = try await RuleTableTests.check(
            "vod/range/v0.m3u8",
            change: { response in
                let numbers = (response.headers["Content-Range"] ?? "").split { !$0.isNumber }.compactMap { Int($0) }
                guard response.status == 206, numbers.count == 3 else { return }
                let (first, size) = (numbers[0], numbers[2] - 3_001)
                guard first < size else {
                    (response.status, response.body) = (416, [])
                    return
                }
                let last = min(numbers[1], size - 1)
                response.body = Array(response.body.prefix(last - first + 1))
                try? response.headers.set("Content-Range", "bytes \(first)-\(last)/\(size)")
            },
            configure: { $0.segmentCount = 20 }
        )
        #expect(report.findings.map(\.rule) == ["byte-range-wrong"], "\(report.findings.map(\.message))")
    }

    @Test(
        "A Content-Range that ends behind its file is one finding",
        arguments: [("vod/range/v0.m3u8", 0), ("vod/range/v0.m3u8", 50), ("vod/dash/base.mpd", 50)]
    )
    func rangeBehindFile(path: String, excess: Int) async throws {
        let report = try await RuleTableTests.check(path) { response in
            let numbers = (response.headers["Content-Range"] ?? "").split { !$0.isNumber }.compactMap { Int($0) }
            guard response.status == 206, numbers.count == 3, numbers[1] > 5_000 else { return }
            try? response.headers.set("Content-Range", "bytes \(numbers[0])-\(numbers[1])/\(numbers[1] - excess)")
        }
        #expect(Set(report.findings.map(\.rule)) == ["byte-range-wrong"], "\(report.findings.map(\.message))")
        #expect(Set(report.findings.map(\.resource)).count == report.findings.count)
        #expect(
            report.findings.allSatisfy {
                $0.problem.found.hasPrefix("Content-Range `bytes ")
                    || $0.problem.found.hasPrefix("Content-Range bytes ")
            }
        )
    }

    @Test("A Content-Range whose file ends with the range is right")
    func rangeAtEndOfFile() async throws {
        let report = try await RuleTableTests.check("vod/range/v0.m3u8") { response in
            let numbers = (response.headers["Content-Range"] ?? "").split { !$0.isNumber }.compactMap { Int($0) }
            guard response.status == 206, numbers.count == 3 else { return }
            try? response.headers.set("Content-Range", "bytes \(numbers[0])-\(numbers[1])/\(numbers[1] + 1)")
        }
        #expect(report.findings.map(\.message) == [] && report.readSegmentCount > 0)
    }

    @Test("A server that refuses byte ranges has all segments", arguments: [400, 403, 405, 416, 501])
    func refusedRanges(status: Int) async throws {
        // A check alone asks for the first byte of a segment, to learn whether it is there.
        let report = try await RuleTableTests.check("vod/ts/v0.m3u8") { response in
            if response.status == 206 { (response.status, response.body) = (status, []) }
        }
        #expect(report.findings.map(\.message) == [] && report.outcome == .sound)
        let gone = try await RuleTableTests.check("vod/ts/v0.m3u8") { response in
            if response.url.path.hasSuffix(".ts") { (response.status, response.body) = (status, []) }
        }
        #expect(Set(gone.findings.map(\.rule)) == ["segment-unavailable"])
        #expect(Set(gone.findings.map(\.problem.found)) == ["status \(status)"])
    }

    @Test("Byte ranges of a playlist that the server refuses are not called missing", arguments: [400, 403, 405, 501])
    func refusedRangesOfPlaylist(status: Int) async throws {
        let report = try await RuleTableTests.check("vod/range/v0.m3u8") { response in
            if response.status == 206 { (response.status, response.body) = (status, []) }
        }
        #expect(report.findings.map(\.rule) == ["byte-range-wrong"], "\(report.findings.map(\.message))")
        let found = try #require(report.findings.first?.problem.found)
        #expect(found.hasPrefix("status \(status) for bytes=") && found.hasSuffix("the whole file without a range"))
    }

    // MARK: Segments

    @Test(
        "A last segment without bytes is one finding",
        arguments: ["vod/ts/v0.m3u8", "vod/fmp4/v0.m3u8"],
        [200, 416]
    )
    func emptyEnd(path: String, status: Int) async throws {
        let report = try await RuleTableTests.check(path) { response in
            guard response.url.path.contains("/11.") else { return }
            // A server with an empty file answers a request for its first byte in one of these ways.
            if response.status == 206 { response.status = status }
            response.body = []
        }
        let found = report.findings.map { "\($0.rule) \($0.problem.found)" }
        #expect(found == ["segment-unreadable an empty body"], "\(found)")
    }

    @Test("A segment is counted once, however often it is fetched")
    func tally() throws {
        func segment(_ number: Int64, _ range: ByteRange? = nil) throws -> MediaSegment {
            let url = try HTTPURL("http://example.org/\(range == nil ? "\(number)" : "all").ts")
            var segment = MediaSegment(sequence: number, start: 0, duration: 2_000_000_000, url: url)
            segment.byteRange = range
            return segment
        }
        var tally = SegmentTally()
        for isRepeated in [false, false, true] {
            for number in Int64(0)..<3 {
                // Segment 1 is read at its second fetch.
                tally.take(try segment(number), isRead: number != 1 || isRepeated, isRepeated: isRepeated)
            }
        }
        #expect(tally.count == 3 && tally.readCount == 3)
        for offset in Int64(0)..<4 {
            let range = ByteRange(offset: offset / 2 * 100, length: 100)
            tally.take(try segment(10 + offset / 2, range), isRead: false, isRepeated: false)
        }
        #expect(tally.count == 5 && tally.readCount == 3)
        for number in Int64(100)..<3_100 { tally.take(try segment(number), isRead: true, isRepeated: false) }
        // Long forgotten, and compared with itself at last.
        tally.take(try segment(0), isRead: true, isRepeated: true)
        #expect(tally.count == 3_005 && tally.readCount == 3_003)
        // What is forgotten takes no memory: it is a new segment where it comes for the first time.
        tally.take(try segment(0), isRead: true, isRepeated: false)
        #expect(tally.count == 3_006 && tally.readCount == 3_004)
    }

    @Test("Segments that are not encrypted are that, whatever their size")
    func plainSegments() async throws {
        let found = try await RuleTableTests.check(
            "vod/aes/index.m3u8",
            change: { response in
                guard response.url.path.hasSuffix(".ts") else { return }
                // Three packets without media: no multiple of 16 bytes.
                let packet: [UInt8] = [0x47, 0x1F, 0xFF, 0x10] + Array(repeating: 0xFF, count: 184)
                response.body = packet + packet + packet
            }
        )
        #expect(Set(found.findings.map(\.rule)) == ["segment-undecipherable"], "\(found.findings.map(\.message))")
        #expect(found.findings.first?.problem.found.hasPrefix("media that is not encrypted") == true)
    }

    @Test(
        "MP4 without EXT-X-MAP is found by its bytes, where its name does not tell it",
        arguments: ["moof", "styp", "ftyp"],
        [true, false]
    )
    func bareFragments(type: String, hasMap: Bool) async throws {
        let report = try await RuleTableTests.check(
            "vod/ts/v0.m3u8",
            change: { response in
                if response.url.path.hasSuffix(".ts") {
                    response.body = [0, 0, 0, 8] + Array(type.utf8)
                } else if hasMap {
                    let text = String(decoding: response.body, as: UTF8.self)
                    let map = "#EXT-X-MAP:URI=\"i.mp4\"\n#EXTINF"
                    response.body = Array(text.replacing("#EXTINF", with: map, maxReplacements: 1).utf8)
                }
            },
            configure: { $0.segmentCount = 1 }
        )
        let found = report.findings.filter { $0.rule == "map-inconsistent" }.map(\.problem.found)
        #expect(found.first?.hasPrefix("MP4 without EXT-X-MAP in segment ") == (hasMap ? nil : true), "\(found)")
        let isUnreadable = report.findings.contains { $0.rule == "segment-unreadable" }
        #expect(hasMap || isUnreadable == (type == "ftyp"))
    }

    @Test(
        "Times without a unit are one finding, of the initialization segment",
        arguments: ["vod/fmp4/v0.m3u8", "vod/dash/number.mpd", "vod/subtitles/wvtt.mpd"]
    )
    func timescale(path: String) async throws {
        let report = try await RuleTableTests.check(path) { response in
            let name = Array("mdhd".utf8)
            guard let place = response.body.firstRange(of: name)?.upperBound else { return }
            let first = place + (response.body[place] == 1 ? 20 : 12)
            response.body.replaceSubrange(first..<(first + 4), with: [0, 0, 0, 0])
        }
        let found = Set(report.findings.map { "\($0.rule) \($0.problem.found)" })
        let words = "MP4 whose track 1 has a time scale of 0 (`mdhd`) as an initialization segment"
        #expect(found == ["segment-unreadable \(words)"], "\(found)")
        #expect(Set(report.findings.map(\.resource)).count == report.findings.count)
        #expect(report.findings.allSatisfy { !$0.resource.hasSuffix(".m4s") })
    }

    @Test("Media in front of their fragment are named", arguments: ["vod/fmp4/v0.m3u8", "vod/dash/time.mpd"])
    func mediaFirst(path: String) async throws {
        let report = try await RuleTableTests.check(path) { response in
            guard response.url.path.hasSuffix(".m4s"), response.status == 200 else { return }
            let moved = response.body.boxes.filter { $0.type == "mdat" }.flatMap(\.bytes)
            let others = response.body.boxes.filter { $0.type != "mdat" }.flatMap(\.bytes)
            response.body = moved + others
        }
        // The offsets of the samples point behind the fragment, where nothing is.
        let found = Set(report.findings.map { "\($0.rule) \($0.problem.found)" })
        let words = "media (`mdat`) before the fragment (`moof`) that describes them"
        #expect(found == ["segment-unreadable \(words)"], "\(found)")
    }

    @Test(
        "A segment that is cut is one finding, wherever it is cut",
        arguments: ["vod/ts/v0.m3u8", "vod/fmp4/v0.m3u8", "vod/dash/number.mpd"],
        [0.2, 0.4, 0.6, 0.7]
    )
    func cutSegment(path: String, share: Double) async throws {
        for isAtPacket in path.contains("/ts/") ? [true, false] : [false] {
            let report = try await RuleTableTests.check(
                path,
                change: { response in
                    guard ["/v0/1.ts", "/v0/1.m4s"].contains(where: response.url.path.hasSuffix) else { return }
                    let count = Int(Double(response.body.count) * share) / 188 * 188
                    response.body = Array(response.body.prefix(isAtPacket ? count : count + 9))
                },
                configure: { $0.segmentCount = 4 }
            )
            let rules = report.findings.map(\.rule)
            let expected: Rule.ID = isAtPacket ? "segment-duration-mismatch" : "segment-truncated"
            #expect(rules == [expected], "\(isAtPacket) \(report.findings.map(\.message))")
        }
    }

    @Test("Subtitles in the place of media are a change of the tracks", arguments: [0, 1])
    func misplacedSubtitles(number: Int) async throws {
        let report = try await RuleTableTests.check("vod/ts/master.m3u8") { response in
            guard response.url.path.hasSuffix("/v1/\(number).ts"), response.status == 200 else { return }
            response.body = Array("WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n".utf8)
        }
        let found = report.findings.map { "\($0.rule) \($0.problem.found)" }
        let expected = number == 0 ? "track-missing no pictures in segment 0" : "tracks-changed subtitles in segment 1"
        #expect(found == [expected], "\(found)")
    }

    @Test(
        "A value of an MPD that cannot be read is one finding, whatever is not known without it",
        arguments: [
            ("mediaPresentationDuration=\"PT24S\"", "mediaPresentationDuration=\"24\""),
            ("mediaPresentationDuration=\"PT24S\"", "mediaPresentationDuration=\"-PT24S\""),
            (" duration=\"", " duration=\"0\" x=\""),
            (" start=\"PT0S\" duration=\"PT", " start=\"PT0S\" duration=\"24s\" x=\""),
        ]
    )
    func unreadableDuration(old: String, new: String) async throws {
        let found = try await found("vod/dash/number.mpd", rewriting: ".mpd") { text in
            text.replacing(old, with: new)
        }
        #expect(found.allSatisfy { $0.hasPrefix("mpd-attribute-invalid ") } && !found.isEmpty, "\(found)")
    }

    @Test(
        "A number of an MPD that cannot be read is one finding, whatever follows from its default",
        arguments: [
            (" startNumber=\"0\"", " startNumber=\"-1\""), (" startNumber=\"0\"", " startNumber=\"x\""),
            (" timescale=\"12800\"", " timescale=\"-1\""),
            (" startNumber=\"0\"", " startNumber=\"0\" presentationTimeOffset=\"-9000000\""),
            (" startNumber=\"0\"", " startNumber=\"0\" endNumber=\"-3\""),
        ]
    )
    func unreadableNumber(old: String, new: String) async throws {
        let found = try await found("vod/dash/number.mpd", rewriting: ".mpd", segments: 20) { text in
            text.replacing(old, with: new)
        }
        #expect(!found.isEmpty && found.allSatisfy { $0.hasPrefix("mpd-attribute-invalid `") }, "\(found)")
    }

    @Test(
        "An MPD that lists no media, or none of a kind, is one finding",
        arguments: [
            ("representation-unplayable", " timescale=\"12800\"", " timescale=\"0\""),
            ("period-boundary", " start=\"PT0S\" duration=\"PT24S\"", " start=\"PT0S\" duration=\"PT0S\""),
            ("period-boundary", "PT24S", "PT0S"),
            ("mpd-attribute-missing", "=\"PT24S\"", "X=\"PT24S\""),
        ]
    )
    func noMedia(rule: String, old: String, new: String) async throws {
        let report = try await RuleTableTests.check("vod/dash/number.mpd") { response in
            guard response.url.path.hasSuffix(".mpd") else { return }
            let text = String(decoding: response.body, as: UTF8.self)
            response.body = Array(text.replacing(old, with: new).utf8)
        }
        #expect(report.findings.map(\.rule.description) == [rule], "\(report.findings.map(\.message))")
        #expect((report.emptiness == nil) == (rule == "representation-unplayable"))
    }

    @Test(
        "A value of an MPD that cannot be read is named, whatever players read in its place",
        arguments: [
            ("vod/dash/base.mpd", #" indexRange="[^"]+""#, "indexRange=\"900-100\"", "a byte range such as `0-999`"),
            ("vod/dash/base.mpd", #" indexRange="[^"]+""#, "indexRange=\"all\"", "a byte range such as `0-999`"),
            (
                "vod/dash/number.mpd", #" codecs="[^"]+""#, "codecs=\"\"",
                "a codec string such as `avc1.640028` or `mp4a.40.2`"
            ),
            (
                "vod/dash/number.mpd", #" startNumber="0""#,
                "startNumber=\"0\" presentationTimeOffset=\"18446744073709551616\"", "a whole number of at most 64 bits"
            ),
            (
                "vod/dash/number.mpd", #" startNumber="0""#, "startNumber=\"99999999999999999999\"",
                "a whole number of at most 64 bits"
            ),
        ]
    )
    func unreadableValue(path: String, pattern: String, new: String, expected: String) async throws {
        let report = try await RuleTableTests.check(path) { response in
            guard response.url.path.hasSuffix(".mpd"), let pattern = try? Regex(pattern) else { return }
            let text = String(decoding: response.body, as: UTF8.self)
            response.body = Array(text.replacing(pattern, with: " \(new)").utf8)
        }
        let found = Set(report.findings.map { "\($0.rule) \($0.problem.expected)" })
        #expect(found == ["mpd-attribute-invalid \(expected)"], "\(report.findings.map(\.message))")
    }

    @Test("The byte range of an initialization segment and of a listed segment must be readable")
    func unreadableRanges() throws {
        func text(_ initialization: String, _ media: String) -> String {
            """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT4S" \
            profiles="urn:mpeg:dash:profile:isoff-main:2011" minBufferTime="PT2S"><Period>\
            <AdaptationSet mimeType="video/mp4"><Representation id="v" bandwidth="9000" codecs="avc1.64001f">\
            <BaseURL>v.mp4</BaseURL><SegmentList duration="4"><Initialization range="\(initialization)"/>\
            <SegmentURL mediaRange="\(media)"/></SegmentList></Representation></AdaptationSet></Period></MPD>
            """
        }
        #expect(try broken([text("0-99", "100-")], at: "a.mpd") == [])
        #expect(try broken([text("99-0", "100-199")], at: "a.mpd") == ["mpd-attribute-invalid"])
        #expect(try broken([text("0-99", "100")], at: "a.mpd") == ["mpd-attribute-invalid"])
    }

    @Test("A beginning of a live MPD that cannot be read is one finding, and one that is missing another")
    func unreadableBeginning() throws {
        func text(_ start: String) -> String {
            """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="dynamic" \(start) publishTime="2026-01-01T00:00:00Z" \
            profiles="urn:mpeg:dash:profile:isoff-live:2011" minBufferTime="PT2S"><Period id="p" start="PT0S">\
            <AdaptationSet mimeType="video/mp4"><SegmentTemplate media="$Number$.m4s" initialization="i" duration="4"/>\
            <Representation id="v" bandwidth="9000" codecs="avc1.64001f"/></AdaptationSet></Period></MPD>
            """
        }
        #expect(try broken([text("availabilityStartTime=\"yesterday\"")], at: "a.mpd") == ["mpd-attribute-invalid"])
        #expect(try broken([text("")], at: "a.mpd") == ["mpd-malformed"])
    }

    @Test("A part whose duration cannot be read is one finding", arguments: ["-0.5", "x"])
    func unreadablePart(duration: String) throws {
        func text(_ duration: String) -> String {
            "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-TARGETDURATION:2\n"
                + "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=3\n#EXT-X-PART-INF:PART-TARGET=1\n"
                + "#EXTINF:2,\n0.ts\n#EXT-X-PART:DURATION=1,URI=\"1.0.ts\"\n"
                + "#EXT-X-PART:DURATION=\(duration),URI=\"1.1.ts\"\n#EXTINF:2,\n1.ts\n"
        }
        #expect(try broken([text("1")]) == [])
        #expect(try broken([text(duration)]) == ["low-latency-tag-invalid"])
    }

    @Test("A timeline of entries without a duration is one finding")
    func emptyTimeline() async throws {
        let found = try await found("vod/dash/time.mpd", rewriting: ".mpd") { text in
            text.replacing(#/ d="[0-9]+"/#, with: " d=\"0\"")
        }
        #expect(!found.isEmpty && found.allSatisfy { $0.hasPrefix("timeline-entry-invalid ") }, "\(found)")
    }

    @Test("Fragments of an MPD without an initialization segment are named")
    func missingInitialization() async throws {
        let report = try await RuleTableTests.check("vod/dash/number.mpd") { response in
            guard response.url.path.hasSuffix(".mpd") else { return }
            let text = String(decoding: response.body, as: UTF8.self)
            response.body = Array(text.replacing(#/ initialization="[^"]+"/#, with: "").utf8)
        }
        let found = Set(report.findings.map { "\($0.rule) \($0.problem.found.prefix(40))" })
        #expect(found == ["segment-unreadable MP4 without an initialization segment in"], "\(found)")
    }

    @Test("White space around a duration means nothing")
    func spacedDuration() async throws {
        let found = try await found("vod/dash/number.mpd", rewriting: ".mpd") { text in
            text.replacing("=\"PT24S\"", with: "=\" PT24S \"")
        }
        #expect(found == [])
    }

    // MARK: Signals

    @Test(
        "A damaged signal of a segment is found at its place",
        arguments: [
            ("vod/fmp4/ads-emsg.m3u8", "in `emsg` number 1 that breaks SCTE 214-3, section 7: checksum: "),
            ("vod/ts/ads-stream.m3u8", "in stream type 0x86 that breaks SCTE 35, section 9.6: checksum: "),
        ]
    )
    func damagedSignal(path: String, words: String) async throws {
        let good = try await RuleTableTests.check(path, configure: { $0.segmentCount = 8 })
        #expect(good.findings.map(\.message) == [] && good.readSegmentCount >= 6)
        let report = try await RuleTableTests.check(
            path,
            change: { response in
                // The first signal of the stream: the section's protocol version changes.
                let section: [UInt8] = [0xFC, 0x30, 0x20, 0x00]
                guard let place = response.body.firstRange(of: section)?.upperBound else { return }
                response.body[place + 3] ^= 1
            },
            configure: { $0.segmentCount = 8 }
        )
        let found = report.findings.map { "\($0.rule) \($0.problem.found)" }
        #expect(found.count == 1 && found[0].hasPrefix("ad-signal-wrong a signal of segment 2 \(words)"), "\(found)")
    }

    // MARK: Playlists

    @Test("A decimal comma in each duration is one finding")
    func decimalComma() async throws {
        let found = try await found("vod/ts/v0.m3u8", rewriting: ".m3u8") { text in
            text.replacing(/#EXTINF:([0-9]+)\.([0-9]+),/) { "#EXTINF:\($0.1),\($0.2)," }
        }
        #expect(found.count == 1 && found[0].hasPrefix("playlist-loose `EXTINF:2,0"), "\(found)")
    }

    @Test(
        "A duration of centuries is one finding, in whatever form",
        arguments: ["1e30", "1e10", "99999999999999999999", "9223372036.9"]
    )
    func endlessDuration(value: String) async throws {
        let found = try await found("vod/ts/v0.m3u8", rewriting: ".m3u8") { text in
            text.replacing("#EXTINF:2.000000,", with: "#EXTINF:\(value),", maxReplacements: 1)
        }
        #expect(found == ["target-duration-exceeded more than 9223372036 s in 1 of 12 segments"], "\(found)")
    }

    @Test(
        "A number that is too large is one finding, which says so",
        arguments: [
            ("#EXT-X-TARGETDURATION:2", "#EXT-X-TARGETDURATION:4000000000", "a number below 1000000000"),
            ("SEQUENCE:0", "SEQUENCE:18446744073709551616", "a whole number of at most 64 bits"),
            ("DURATION:2", "DURATION:2\n#EXT-X-BITRATE:99999999999999999999", "a whole number of at most 64 bits"),
        ]
    )
    func largeNumbers(old: String, new: String, expected: String) async throws {
        let report = try await RuleTableTests.check("vod/ts/v0.m3u8") { response in
            guard response.url.path.hasSuffix(".m3u8") else { return }
            let text = String(decoding: response.body, as: UTF8.self)
            response.body = Array(text.replacing(old, with: new, maxReplacements: 1).utf8)
        }
        #expect(report.findings.map(\.rule) == ["playlist-attribute-invalid"], "\(report.findings.map(\.message))")
        #expect(report.findings.first?.problem.expected == expected)
        #expect(try broken([live(1).replacing(":1\n", with: ":18446744073709551615\n")]) == [])
    }

    @Test("A bit rate of more than 64 bits is one finding", arguments: ["BANDWIDTH", "AVERAGE-BANDWIDTH"])
    func largeBitRate(name: String) throws {
        func text(_ value: String) -> String {
            let others = name == "BANDWIDTH" ? "" : "BANDWIDTH=18446744073709551615,"
            return "#EXTM3U\n#EXT-X-STREAM-INF:\(others)\(name)=\(value),CODECS=\"avc1.64001f\"\nv.m3u8\n"
        }
        #expect(try broken([text("18446744073709551616")], at: "m.m3u8") == ["playlist-attribute-invalid"])
        #expect(try broken([text("18446744073709551615")], at: "m.m3u8") == [])
    }

    @Test("SAMPLE-AES-CTR is for fragments of MP4 alone")
    func misplacedCounter() throws {
        func text(_ method: String, map: String = "", name: String) -> String {
            "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:6\n#EXT-X-KEY:METHOD=\(method),URI=\"k\"\n\(map)"
                + "#EXTINF:6,\n\(name)\n#EXT-X-ENDLIST\n"
        }
        #expect(try broken([text("SAMPLE-AES-CTR", name: "1.ts")]) == ["key-inconsistent"])
        #expect(try broken([text("SAMPLE-AES", name: "1.ts")]) == [])
        #expect(try broken([text("SAMPLE-AES-CTR", map: "#EXT-X-MAP:URI=\"i.mp4\"\n", name: "1.mp4")]) == [])
        // Each has one rule.
        #expect(try broken([text("SAMPLE-AES-CTR", name: "1.m4s")]) == ["map-inconsistent"])
        let miswritten = text("SAMPLE-AES-CTR", map: "#ext-x-map:URI=\"i.mp4\"\n", name: "1.mp4")
        #expect(try broken([miswritten]) == ["playlist-attribute-invalid"])
    }

    @Test("Empty codecs, and a type of a rendition that does not exist, are named")
    func namedValues() throws {
        func found(_ lines: String) throws -> [String] {
            var run = RuleRun()
            run.observe(try fetched("#EXTM3U\n\(lines)v.m3u8\n", 0, "m.m3u8"), as: .root)
            return run.findings.map { "\($0.rule) \($0.problem.found)" }
        }
        let variant = "#EXT-X-STREAM-INF:BANDWIDTH=9000,CODECS="
        #expect(try found("\(variant)\"avc1.64001f\"\n") == [])
        for empty in ["", ","] {
            let words = "playlist-attribute-invalid `CODECS=\(empty)` in EXT-X-STREAM-INF"
            #expect(try found("\(variant)\"\(empty)\"\n") == [words])
        }
        let media = "#EXT-X-MEDIA:TYPE=SOUND,GROUP-ID=\"a\",NAME=\"x\",URI=\"a.m3u8\"\n"
        let words = "media-tag-incomplete an EXT-X-MEDIA without a valid TYPE or a GROUP-ID (`TYPE=SOUND`)"
        #expect(try found("\(media)\(variant)\"avc1.64001f\"\n") == [words])
    }

    @Test("An invalid version is one finding", arguments: ["abc", "0", "14", "2"])
    func version(value: String) throws {
        let text = "#EXTM3U\n#EXT-X-VERSION:\(value)\n#EXT-X-TARGETDURATION:6\n#EXTINF:5.5,\n1.ts\n#EXT-X-ENDLIST\n"
        #expect(try broken([text]) == [value == "2" ? "version-too-low" : "playlist-attribute-invalid"])
        let master =
            "#EXTM3U\n#EXT-X-VERSION:\(value)\n"
            + "#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID=\"c\",NAME=\"c\",INSTREAM-ID=\"SERVICE1\"\n"
            + "#EXT-X-STREAM-INF:BANDWIDTH=9000,CODECS=\"avc1.64001f\",CLOSED-CAPTIONS=\"c\"\nv.m3u8\n"
        #expect(try broken([master], at: "m.m3u8") == [value == "2" ? "version-too-low" : "playlist-attribute-invalid"])
    }

    @Test("A negative duration is one finding")
    func negativeDuration() async throws {
        let found = try await found("vod/ts/master.m3u8", rewriting: "v0.m3u8") { text in
            text.replacing("#EXTINF:", with: "#EXTINF:-", maxReplacements: 1)
        }
        #expect(found.count == 1 && found[0].hasPrefix("extinf-negative "), "\(found)")
    }

    @Test("Codecs without quotes are one finding, wherever they stand")
    func codecsWithoutQuotes() async throws {
        for isLast in [false, true] {
            let found = try await found("vod/ts/master.m3u8", rewriting: "master.m3u8") { text in
                text.replacing(/(,CODECS=)"([^"]*)"([^\n]*)/) { match in
                    isLast ? "\(match.3)\(match.1)\(match.2)" : "\(match.1)\(match.2)\(match.3)"
                }
            }
            #expect(found.count == 1 && found[0].hasPrefix("playlist-attribute-invalid `CODECS=avc1."), "\(found)")
            #expect(found[0].contains(",mp4a.40.2`"), "\(found)")
        }
    }

    @Test(
        "White space before the colon of each EXTINF, and a wrong name of it, are one finding",
        arguments: [" ", "O"]
    )
    func miswrittenDurations(insertion: String) async throws {
        let found = try await found("vod/ts/master.m3u8", rewriting: "v0.m3u8") { text in
            text.replacing("#EXTINF:", with: "#EXTINF\(insertion):")
        }
        #expect(found.count == 1 && found[0].hasPrefix("playlist-attribute-invalid a tag "), "\(found)")
    }

    @Test(
        "What a tag would say that is written wrongly is not missing as well",
        arguments: [
            ("#EXT-X-ENDLST", "#EXTINF:6,\n10.ts\n#EXT-X-ENDLST\n"),
            ("#ext-x-map", "#ext-x-map:URI=\"i.mp4\"\n#EXTINF:6,\n10.m4s\n#EXT-X-ENDLIST\n"),
            ("#EXT-X-DISCONTINUTY", "#EXTINF:6,\n10.ts\n#EXT-X-DISCONTINUTY\n#EXTINF:6,\n11.ts\n#EXT-X-ENDLIST\n"),
        ]
    )
    func consequences(tag: String, lines: String) throws {
        var run = RuleRun()
        let text = "#EXTM3U\n#EXT-X-VERSION:8\n#EXT-X-TARGETDURATION:6\n\(lines)"
        for second in [0, 100] { run.observe(try fetched(text, second), as: .root) }
        let name = try #require(run.history.renditions.first).name
        for number in Int64(0)..<2 {
            var facts = SegmentFacts(
                rendition: name,
                url: try HTTPURL("http://example.org/\(number)"),
                sequence: number,
                discontinuity: 0,
                declaredDuration: 6_000_000_000,
                fetched: try fetched("", 101).fetched
            )
            facts.byteCount = 1_000
            // The timestamps jump, and the size of the pictures changes.
            let start = number * 60_000_000_000
            var track = SegmentFacts.Track(isVideo: true, codec: "h264", start: start, end: start + 6_000_000_000)
            track.size = Resolution(width: 160 << Int(number), height: 90 << Int(number))
            facts.tracks = [track]
            if lines.contains("DISCONTINUTY") { run.observe(facts) }
        }
        #expect(run.findings.map(\.rule) == ["playlist-attribute-invalid"], "\(run.findings.map(\.message))")
        #expect(run.findings.first?.problem.found.contains("`\(tag)`") == true)
    }

    @Test("Numbers, members and keys whose tags are written wrongly are one finding")
    func miswrittenNumbers() async throws {
        let texts = (10..<14).map { live($0).replacing("#EXT-X-MEDIA-SEQUENCE", with: "#EXT-X-MEDIA-SEQUENECE") }
        #expect(try broken(texts) == ["playlist-attribute-invalid"])
        let members = [("EXT-X-MEDIA", "a", "x"), ("EXT-X-MEDIA", "b", "x"), ("EXT-X-MEDAI", "b", "y")].map { line in
            "#\(line.0):TYPE=AUDIO,GROUP-ID=\"\(line.1)\",NAME=\"\(line.2)\",URI=\"\(line.1)\(line.2).m3u8\"\n"
        }
        let variants = ["a", "b"].map { "#EXT-X-STREAM-INF:BANDWIDTH=9000,AUDIO=\"\($0)\"\n\($0).m3u8\n" }
        let second = "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"y\",URI=\"ay.m3u8\"\n"
        let master = "#EXTM3U\n" + members.joined() + second + variants.joined()
        #expect(try broken([master], at: "m.m3u8") == ["playlist-attribute-invalid"])
        let keys = try await found("vod/aes/index.m3u8", rewriting: ".m3u8") { text in
            text.replacing("#EXT-X-KEY", with: "#EXT-X-Key")
        }
        #expect(keys.count == 1 && keys[0].contains("`#EXT-X-Key`"), "\(keys)")
        let ends = ["ENDLIST", "ENDLIST", "ENDLST"].map { live(10) + "\n#EXT-X-\($0)\n" }
        #expect(try broken(ends) == ["playlist-attribute-invalid"])
        // The second version has lost its discontinuity with its number.
        let numbers = [("SEQUENCE", 10), ("SEQUNECE", 11)].map { name, first in
            live(first, head: "#EXT-X-DISCONTINUITY-\(name):\(first - 10)\n") {
                ($0 == 10 ? "#EXT-X-DISCONTINUITY\n" : "") + "#EXTINF:6,\n\($0).ts"
            }
        }
        #expect(try broken(numbers) == ["playlist-attribute-invalid"])
    }

    @Test("A check that a miswritten tag explains finds nothing, and was applied")
    func explanation() throws {
        let check = Rule.Check.media { _, _ in [Problem(found: "a", expected: "b", advice: "c")] }
        let rules = [check, check.explained(by: .map, .key)].enumerated().map { place, check in
            Rule(Rule.ID("rule-\(place)"), .error, "title", explanation: "why", source: "where", checks: [check])
        }
        for (tag, expected) in [("#EXT-X-KEYS", 2), ("#ext-x-key", 1), ("#EXT-X-Map", 1), ("#EXT-X-Gap", 2)] {
            var run = RuleRun(rules: rules)
            let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(tag):A=1\n#EXTINF:6,\n10.ts\n#EXT-X-ENDLIST\n"
            run.observe(try fetched(text, 0), as: .root)
            #expect(run.findings.count == expected && run.unappliedRules.isEmpty, "\(tag)")
        }
    }

    @Test("A remote adaptation set that is all of an MPD, and cannot be loaded, is one finding")
    func remoteSet() async throws {
        let found = try await found("vod/dash/number.mpd", rewriting: ".mpd") { _ in
            """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" xmlns:xlink="http://www.w3.org/1999/xlink" type="static" \
            profiles="urn:mpeg:dash:profile:isoff-live:2011" mediaPresentationDuration="PT4S" minBufferTime="PT2S">
            <Period><AdaptationSet xlink:href="gone.xml" xlink:actuate="onLoad"/></Period></MPD>
            """
        }
        #expect(found.count == 1, "\(found)")
        #expect(found[0].hasPrefix("remote-element-missing ") && found[0].hasSuffix("(AdaptationSet: status 404)"))
    }
}

extension String {
    fileprivate var lines: [String] { split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }
}

extension [UInt8] {
    /// The boxes of MP4, with their headers.
    fileprivate var boxes: [(type: String, bytes: [UInt8])] {
        var (rest, found) = (self[...], [(type: String, bytes: [UInt8])]())
        while rest.count >= 8 {
            let size = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            guard size >= 8, size <= rest.count else { break }
            let type = String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self)
            found.append((type, Array(rest.prefix(size))))
            rest = rest.dropFirst(size)
        }
        return found
    }
}
