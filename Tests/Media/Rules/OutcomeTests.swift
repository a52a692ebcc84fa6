import Foundation
import Instrument
import InstrumentCheck
import InstrumentHTTP
import InstrumentRules
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentOrigin

/// What a check says where there is nothing to check: never that all is well.
@Suite("Outcomes of a check", .ownThread, .timeLimit(.minutes(30)))
struct OutcomeTests {
    private static func replacing(
        _ ending: String,
        _ change: @escaping @Sendable (String) -> String
    ) -> @Sendable (inout HTTPResponse) -> Void {
        { response in
            guard response.url.path.hasSuffix(ending) else { return }
            response.body = Array(change(String(decoding: response.body, as: UTF8.self)).utf8)
        }
    }

    @Test("A sound stream is sound, and every segment that was fetched was read", arguments: ["vod/ts", "vod/range"])
    func sound(path: String) async throws {
        let report = try await RuleTableTests.check("\(path)/master.m3u8")
        #expect(report.outcome == .sound && report.emptiness == nil && !report.isFailed(isStrict: true))
        #expect(report.readSegmentCount == report.segmentCount && report.segmentCount > 0)
        #expect(!report.unappliedRules.contains("codecs-mismatch"))
        let lists = try await RuleTableTests.check("\(path)/master.m3u8", configure: { $0.segmentCount = 0 })
        #expect(lists.outcome == .sound && lists.unappliedRules.contains("codecs-mismatch"))
    }

    @Test("A description has no bit rate that nobody declares, and the live edge behind the last part")
    func description() async throws {
        let text = """
            #EXTM3U
            #EXT-X-TARGETDURATION:2
            #EXT-X-PART-INF:PART-TARGET=0.5
            #EXT-X-SERVER-CONTROL:PART-HOLD-BACK=1.5
            #EXT-X-PROGRAM-DATE-TIME:2026-11-27T10:00:00Z
            #EXTINF:2,
            0.ts
            #EXT-X-PART:DURATION=0.5,URI="1.ts?1"
            #EXT-X-PART:DURATION=0.5,URI="1.ts?2"
            """
        let change = Self.replacing("v0.m3u8") { _ in text }
        let report = try await RuleTableTests.check(
            "vod/ts/v0.m3u8",
            change: change,
            configure: { ($0.segmentCount, $0.duration) = (0, .zero) }
        )
        let stream = try #require(report.stream)
        #expect(stream.variants.map(\.bandwidth) == [nil] && stream.kind == .live)
        #expect(stream.liveEdge == WallTime(milliseconds: 1_795_773_603_000))
        let master = try await RuleTableTests.check("vod/ts/master.m3u8", configure: { $0.segmentCount = 0 })
        #expect(master.stream?.variants.allSatisfy { ($0.bandwidth ?? 0) > 0 } == true)
    }

    @Test("Renditions of keyframes are counted apart from those that are played")
    func keyframes() async throws {
        for path in ["vod/ts/master.m3u8", "break/none/vod/ts/master.m3u8"] {
            let report = try await RuleTableTests.check(
                path,
                change: Self.replacing("master.m3u8") { text in
                    text + "\n#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=9000,URI=\"v0.m3u8\"\n"
                },
                configure: { $0.segmentCount = 0 }
            )
            #expect(report.renditionCount == report.stream?.renditions.count && report.keyframeRenditionCount == 1)
        }
    }

    @Test("Keyframes of another size than their entry declares are found", arguments: [("160x90", true), ("", false)])
    func keyframeSize(size: String, isWrong: Bool) async throws {
        let attribute = size.isEmpty ? "" : ",RESOLUTION=\(size)"
        let report = try await RuleTableTests.check(
            "vod/ts/master.m3u8",
            change: Self.replacing("master.m3u8") { text in
                text + "\n#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=9000000\(attribute),URI=\"v0.m3u8?keyframes\"\n"
            }
        )
        let found = report.findings.filter { $0.rule == "resolution-mismatch" }
        #expect(found.isEmpty != isWrong, "\(report.findings.map(\.message))")
        #expect(found.allSatisfy { $0.problem.expected == "the declared 160×90" })
    }

    @Test(
        "The segment that the duration of an MPD implies must be there, however short the rest is",
        arguments: [(24_000, false), (24_020, true), (23_990, false)]
    )
    func remainder(milliseconds: Int, isMissing: Bool) async throws {
        let report = try await RuleTableTests.check(
            "vod/dash/number.mpd",
            change: Self.replacing(".mpd") { $0.replacing("PT24S", with: "PT\(Double(milliseconds) / 1_000)S") }
        )
        let found = report.findings.filter { $0.rule == "segment-unavailable" }
        #expect(found.isEmpty != isMissing, "\(report.findings.map(\.message))")
        #expect(found.allSatisfy { $0.problem.found.hasSuffix("which the MPD implies for the last 0.02 s") })
    }

    @Test("The index of a file is read although no segment is asked for, and a length that is not known is not 0")
    func indexedFile() async throws {
        let listing: (inout StreamCheckConfiguration) -> Void = { ($0.segmentCount, $0.duration) = (0, .zero) }
        let report = try await RuleTableTests.check("vod/dash/base.mpd", configure: listing)
        let renditions = try #require(report.stream?.renditions)
        let whole = try #require(report.stream?.duration)
        for rendition in renditions {
            #expect((rendition.segmentCount ?? 0) >= 6 && abs((rendition.duration ?? 0) - whole) < 100_000_000)
        }
        #expect(report.segmentCount == 0 && report.outcome == .sound)
        let missing = try await RuleTableTests.check(
            "vod/dash/base.mpd",
            change: { if $0.url.path.hasSuffix(".mp4") { ($0.status, $0.body) = (404, []) } },
            configure: listing
        )
        #expect(missing.stream?.renditions.allSatisfy { $0.segmentCount == nil && $0.duration == nil } == true)
        #expect(Set(missing.findings.map(\.rule.description)) == ["segment-unavailable"])
    }

    @Test("An address without a playlist is nothing to check, also where the rule is ignored")
    func nothingThere() async throws {
        let report = try await RuleTableTests.check("nothing/here.m3u8", configure: { $0.rules = [] })
        #expect(report.outcome == .nothing && report.findings.isEmpty && report.isFailed(isStrict: false))
    }

    @Test(
        "A file with segments that is missing or is a page breaks a rule, and there is nothing to check",
        arguments: [(404, "segment-unavailable"), (200, "segment-unreadable")]
    )
    func file(status: Int, rule: String) async throws {
        let page = Array(String(repeating: "<!doctype html><p>Sorry</p>", count: 3_000).utf8)
        let report = try await RuleTableTests.check("vod/dash/base.mpd") { response in
            guard response.url.path.hasSuffix(".mp4") else { return }
            (response.status, response.body) = (status, page)
        }
        #expect(Set(report.findings.map(\.rule.description)) == [rule])
        #expect(report.outcome == .nothing && report.emptiness == "no segment could be fetched")
    }

    @Test(
        "A list without segments that can be played is nothing to check",
        arguments: [
            ("vod/ts/v0.m3u8", ".m3u8", "a media playlist without segments"),
            ("live/ts/v0.m3u8", ".m3u8", "a media playlist without segments"),
            ("vod/dash/timeline.mpd", ".mpd", "a representation without segments"),
        ]
    )
    func empty(path: String, ending: String, reason: String) async throws {
        let report = try await RuleTableTests.check(
            path,
            change: Self.replacing(ending) { text in
                text.split(separator: "\n").filter { line in
                    !line.contains("<S ") && !line.hasPrefix("#EXTINF") && (line.hasPrefix("#") || ending == ".mpd")
                }.joined(separator: "\n")
            }
        )
        #expect(report.outcome == .nothing && report.emptiness == reason)
        #expect(report.findings.contains { $0.rule == "nothing-to-play" })
    }

    @Test("A list of gaps is nothing to check")
    func gaps() async throws {
        let report = try await RuleTableTests.check(
            "vod/ts/v0.m3u8",
            change: Self.replacing(".m3u8") { $0.replacing("#EXTINF", with: "#EXT-X-GAP\n#EXTINF") }
        )
        #expect(report.outcome == .nothing)
        #expect(report.emptiness?.contains("all gaps") == true)
    }

    @Test(
        "An event that has not begun, or is over, is nothing to check",
        arguments: [
            ("2099-01-01T00:00:00Z", "that begins at 2099-01-01"), ("2020-01-01T00:00:00Z", "that ended at 2020"),
        ]
    )
    func event(start: String, reason: String) async throws {
        let report = try await RuleTableTests.check(
            "vod/dash/number.mpd",
            change: Self.replacing(".mpd") { text in
                let window = "timeShiftBufferDepth=\"PT20S\" availabilityStartTime=\"\(start)\""
                return text.replacing("type=\"static\"", with: "type=\"dynamic\" publishTime=\"\(start)\" \(window)")
            }
        )
        #expect(report.outcome == .nothing)
        #expect(report.emptiness?.contains(reason) == true, "\(report.emptiness ?? "")")
        #expect(report.findings.map(\.rule).contains("nothing-to-play"))
    }

    @Test("Segments that cannot be decrypted are nothing to check")
    func unknownMethod() async throws {
        let report = try await RuleTableTests.check(
            "vod/aes/index.m3u8",
            change: Self.replacing(".m3u8") { $0.replacing("METHOD=AES-128", with: "METHOD=AES-256") }
        )
        #expect(report.outcome == .nothing)
        #expect(report.emptiness == "no segment could be read: AES-256 cannot be decrypted")
    }

    @Test("Segments of an MPD that are encrypted as a whole are nothing to check")
    func segmentEncryption() async throws {
        let scheme = "<ContentProtection schemeIdUri=\"urn:mpeg:dash:sea:2012\"/>"
        let report = try await RuleTableTests.check(
            "vod/dash/number.mpd",
            change: Self.replacing(".mpd") { $0.replacing("      <Representation", with: "\(scheme)<Representation") }
        )
        #expect(report.findings.map(\.rule) == [] && report.outcome == .nothing)
        let method = "segment encryption of ISO/IEC 23009-4"
        #expect(report.emptiness == "no segment could be read: \(method) cannot be decrypted")
    }

    @Test(
        "A wrong key, a wrong IV, and segments that are not encrypted at all are found",
        arguments: ["key", "IV", "plain"]
    )
    func decryption(fault: String) async throws {
        let report = try await RuleTableTests.check(fault == "plain" ? "vod/ts/v0.m3u8" : "vod/aes/index.m3u8") {
            response in
            if fault == "key", response.url.path.hasSuffix("/key") { response.body = Array("0123456789abcdef".utf8) }
            guard response.url.path.hasSuffix(".m3u8") else { return }
            var text = String(decoding: response.body, as: UTF8.self)
            if fault == "IV" { text.replace(/IV=0x[0-9a-fA-F]+/, with: "IV=0xf0e1d2c3b4a5968778695a4b3c2d1e0f") }
            if fault == "plain" {
                let tag = "#EXT-X-KEY:METHOD=AES-128,URI=\"../aes/key\""
                text.replace("#EXTINF", with: "\(tag)\n#EXTINF", maxReplacements: 1)
            }
            response.body = Array(text.utf8)
        }
        #expect(Set(report.findings.map(\.rule)) == ["segment-undecipherable"])
        #expect(report.outcome == .nothing)
    }

    @Test(
        "An invalid key is found once, at its address and as what it is",
        arguments: [
            ("<!doctype html><p>Log in</p>", "an HTML page of 28 bytes"), ("<html>no</html>\n", "an HTML page"),
            ("", "an empty body"), ("{\"error\":\"login\"}", "JSON of 17 bytes"),
            ("0123456789abcde", "a key of 15 bytes"),
            ("30313233343536373839616263646566", "a key as 32 hexadecimal digits"),
            ("MDEyMzQ1Njc4OWFiY2RlZg==\n", "a key in Base64"),
        ]
    )
    func keys(body: String, words: String) async throws {
        let report = try await RuleTableTests.check("vod/aes/index.m3u8") { response in
            if response.url.path.hasSuffix("/key") { response.body = Array(body.utf8) }
        }
        let found = report.findings.map { "\($0.rule) \($0.problem.found)" }
        #expect(found == ["key-inconsistent \(words)"])
        #expect(report.findings.first?.resource.hasSuffix("/key") == true && report.outcome == .nothing)
    }

    @Test("An IV that is wrong in its last bytes alone, as that of another number is, is found")
    func nearIV() async throws {
        let report = try await RuleTableTests.check("vod/aes/index.m3u8") { response in
            guard response.url.path.hasSuffix(".m3u8") else { return }
            let text = String(decoding: response.body, as: UTF8.self)
            response.body = Array(
                text.replacing(/IV=0x([0-9a-fA-F]{31})([0-9a-fA-F])/) { match in
                    "IV=0x\(match.1)\(match.2 == "0" ? "1" : "0")"
                }.utf8
            )
        }
        #expect(Set(report.findings.map(\.rule)) == ["segment-undecipherable"])
    }

    @Test("A key that the playlist has in a `data:` address decrypts, and a wrong one is found")
    func writtenKey() async throws {
        let key = Lock<[UInt8]>([])
        _ = try await RuleTableTests.check("vod/aes/index.m3u8") { response in
            if response.url.path.hasSuffix("/key") { key.withLock { $0 = response.body } }
        }
        for isRight in [true, false] {
            let bytes = isRight ? key.withLock { $0 } : [UInt8](repeating: 7, count: 16)
            let address = "data:application/octet-stream;base64," + Data(bytes).base64EncodedString()
            let change = Self.replacing(".m3u8") { $0.replacing(/URI="[^"]*key"/, with: "URI=\"\(address)\"") }
            let report = try await RuleTableTests.check("vod/aes/index.m3u8", change: change)
            #expect(Set(report.findings.map(\.rule)) == (isRight ? [] : ["segment-undecipherable"]))
            #expect(report.readSegmentCount == (isRight ? report.segmentCount : 0) && report.segmentCount > 0)
        }
    }

    @Test(
        "An initialization segment without its tracks is found at its address",
        arguments: [(40, "40 bytes, which end inside a box,"), (0, "MP4 without the box `moov`")]
    )
    func tracklessInitialization(count: Int, words: String) async throws {
        let report = try await RuleTableTests.check("vod/fmp4/v0.m3u8") { response in
            guard response.url.path.contains("/init") else { return }
            let type = Array(response.body.prefix(Int(response.body[3])))
            response.body = count > 0 ? Array(response.body.prefix(count)) : type
        }
        let found = report.findings.map { "\($0.rule) \($0.problem.found)" }
        #expect(found == ["segment-unreadable \(words) as an initialization segment"])
    }

    @Test("Where only the multivariant playlist can be read, the reason names the media playlists")
    func masterAlone() async throws {
        let report = try await RuleTableTests.check("vod/ts/master.m3u8") { response in
            if !response.url.path.hasSuffix("master.m3u8") { response.status = 404 }
        }
        #expect(report.outcome == .nothing && report.emptiness == "no media playlist could be read")
    }

    @Test("A recording whose last segments are missing is found by its last one", arguments: ["vod/ts", "vod/fmp4"])
    func missingEnd(path: String) async throws {
        let report = try await RuleTableTests.check("\(path)/v0.m3u8") { response in
            if let number = Int(response.url.path.split(separator: "/").last?.split(separator: ".").first ?? ""),
                number > 3
            {
                response.status = 404
            }
        }
        #expect(Set(report.findings.map(\.rule)) == ["segment-unavailable"])
        let last = report.findings.first { $0.resource.contains("/11.") }
        #expect(last?.problem.found == "status 404")
    }

    @Test(
        "Bytes that are not the requested range are found",
        arguments: [
            ("bytes 0-9/100", 10), ("bytes 7-1000/*", 10), ("bytes */100", 10), ("", 1_000_000), ("bytes x-y/z", 10),
        ]
    )
    func ranges(header: String, count: Int) async throws {
        let report = try await RuleTableTests.check("vod/range/v0.m3u8") { response in
            guard response.status == 206 else { return }
            response.headers.remove("Content-Range")
            if !header.isEmpty { try? response.headers.set("Content-Range", header) }
            response.body = [UInt8](repeating: 0x47, count: count)
        }
        #expect(Set(report.findings.map(\.rule)) == ["byte-range-wrong"])
        #expect(report.outcome == .nothing)
    }

    @Test("A file of byte ranges that is cut in its last segment is found, also where that segment is not fetched")
    func cutFile() async throws {
        let report = try await RuleTableTests.check("vod/range/v0.m3u8") { response in
            let numbers = (response.headers["Content-Range"] ?? "").split { !$0.isNumber }.compactMap { Int($0) }
            guard response.status == 206, numbers.count == 3, numbers[1] == numbers[2] - 1 else { return }
            (response.status, response.body) = (416, [])
        }
        let found = report.findings.map { "\($0.rule) \($0.problem.found)" }
        #expect(found.count == 1 && found[0].hasPrefix("byte-range-wrong status 416 for bytes="), "\(found)")
    }

    @Test(
        "A segment of which a check alone asks for a byte range is there if the server sends it without",
        arguments: [true, false]
    )
    func missingRanges(isEmpty: Bool) async throws {
        let report = try await RuleTableTests.check("vod/ts/v0.m3u8") { response in
            let isLast = response.url.path.hasSuffix("/11.ts")
            if response.status == 206 { (response.status, response.body) = (416, []) }
            if isEmpty, isLast, response.status == 200 { response.body = [] }
        }
        let found = report.findings.map { "\($0.rule) \($0.problem.found)" }
        // The segment is one of those that are fetched, too: one fault is one finding.
        #expect(found == (isEmpty ? ["segment-unreadable an empty body"] : []), "\(found)")
    }

    @Test("A part of a file that comes without a requested range is a finding, and the whole file is not")
    func unaskedRange() async throws {
        for (total, isPart) in [(100, true), (10, false)] {
            let report = try await RuleTableTests.check("vod/ts/v0.m3u8") { response in
                guard response.status == 200, response.url.path.hasSuffix(".ts") else { return }
                response.status = 206
                let count = isPart ? 10 : response.body.count
                try? response.headers.set("Content-Range", "bytes 0-\(count - 1)/\(isPart ? total : count)")
                response.body = Array(response.body.prefix(count))
            }
            let found = Set(report.findings.map { "\($0.rule) \($0.problem.found)" })
            let words = "status 206 with bytes 0-9/100, although no byte range was requested"
            #expect(found == (isPart ? ["byte-range-wrong \(words)"] : []), "\(found)")
        }
    }

    @Test("An empty answer to a byte range is one finding")
    func emptyRange() async throws {
        let report = try await RuleTableTests.check("vod/range/v0.m3u8") { response in
            if response.status == 206 { (response.status, response.body) = (204, []) }
        }
        let found = Set(report.findings.map { "\($0.rule) \($0.problem.found)" })
        #expect(found == ["segment-unreadable an empty body"], "\(found)")
    }

    @Test("A compressed segment without its head is advised to have one")
    func compressedSegment() async throws {
        let report = try await RuleTableTests.check("vod/ts/v0.m3u8") { response in
            if response.url.path.hasSuffix(".ts") { response.body = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0] }
        }
        let problem = try #require(report.findings.first { $0.rule == "segment-unreadable" }?.problem)
        #expect(problem.found == "compressed data" && problem.advice.contains("Content-Encoding"))
    }

    @Test("A range that reaches beyond its file is found with the size of the file", arguments: [true, false])
    func longRange(isPartial: Bool) async throws {
        let report = try await RuleTableTests.check("vod/range/v0.m3u8") { response in
            if response.url.path.hasSuffix(".m3u8") {
                let text = String(decoding: response.body, as: UTF8.self)
                response.body = Array(text.replacing(/BYTERANGE:[0-9]+@0/, with: "BYTERANGE:90000000@0").utf8)
            } else if !isPartial, response.status == 206 {
                response.status = 200
            }
        }
        #expect(Set(report.findings.map(\.rule)) == ["byte-range-wrong"], "\(report.findings.map(\.message))")
        let finding = try #require(report.findings.first)
        #expect(finding.problem.found.hasSuffix("for bytes=0-89999999, which has 90000000"), "\(finding.problem.found)")
        #expect(finding.problem.found.contains(" bytes of a file of "))
    }

    @Test(
        "A segment that is empty or another document is named as that, whatever the container",
        arguments: [
            ("", "an empty body"), ("<html>No</html>", "an HTML page"), ("{\"error\":403}", "JSON"),
            ("These are no boxes.", "bytes of an unknown format"),
        ],
        ["vod/ts/v0.m3u8", "vod/fmp4/v0.m3u8", "vod/dash/number.mpd"]
    )
    func replaced(body: (String, String), path: String) async throws {
        let report = try await RuleTableTests.check(path) { response in
            if response.url.path.hasSuffix(".ts") || response.url.path.hasSuffix(".m4s") {
                response.body = Array(body.0.utf8)
            }
        }
        let found = report.findings.map { "\($0.rule) \($0.problem.found)" }
        #expect(Set(found) == ["segment-unreadable \(body.1)"], "\(found)")
        #expect(report.outcome == .nothing)
    }

    @Test("An initialization segment that is a page is found at its address, and its segments are not blamed")
    func initialization() async throws {
        let report = try await RuleTableTests.check("vod/fmp4/v0.m3u8") { response in
            if response.url.path.contains("/init") { response.body = Array("<!doctype html><p>Log in</p>".utf8) }
        }
        let found = report.findings.map { "\($0.rule) \($0.problem.found)" }
        #expect(found == ["segment-unreadable an HTML page as an initialization segment"])
        #expect(report.findings.first?.resource.contains("/init") == true)
        #expect(report.outcome == .nothing)
    }

    @Test("Compressed bytes without their head, and a body that is no such coding, are found as such")
    func codings() async throws {
        let report = try await RuleTableTests.check("vod/ts/master.m3u8") { $0.body = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0] }
        let finding = try #require(report.findings.first)
        #expect(finding.problem.found == "compressed data" && finding.problem.advice.contains("Content-Encoding"))
        let url = try HTTPURL("http://example.org/a.m3u8")
        let coded = await StreamCheck(url, transport: CodingTransport(), clock: SteppingClock()).run()
        let problem = try #require(coded.findings.first?.problem)
        #expect(problem.found == "the body is not gzip" && problem.expected.contains("content coding"))
        #expect(problem.advice.contains("Content-Encoding"))
    }

    @Test("A range that a transport refuses is found as such")
    func refusedRange() async throws {
        let transport = RefusingTransport()
        var configuration = StreamCheckConfiguration()
        configuration.segmentCount = 1
        let url = try HTTPURL("http://example.org/a.m3u8")
        let check = StreamCheck(url, transport: transport, clock: SteppingClock(), configuration: configuration)
        let finding = try #require(await check.run().findings.first)
        #expect(
            finding.rule == "byte-range-wrong" && finding.problem.found == "the server sent bytes 0-1, expected 5-9"
        )
    }
}

/// Fails as a transport does that cannot decode a body.
private struct CodingTransport: HTTPTransport {
    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        throw HTTPError(.init("contentCoding"), "the body is not gzip; correct the server")
    }
}

/// Answers requests for ranges as a transport does that compares them.
private struct RefusingTransport: HTTPTransport {
    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        guard request.headers["Range"] == nil else {
            throw HTTPError(.init("wrongRange"), "the server sent bytes 0-1, expected 5-9; correct the server")
        }
        let segment = "#EXTINF:2,\n#EXT-X-BYTERANGE:5@5\na.ts\n"
        let text = "#EXTM3U\n#EXT-X-VERSION:4\n#EXT-X-TARGETDURATION:2\n\(segment)#EXT-X-ENDLIST\n"
        return HTTPResponse(status: 200, body: Array(text.utf8), url: request.url)
    }
}

/// Playlists of keyframes, made by ffmpeg.
@Suite("Checks of playlists of keyframes", .ownThread, .timeLimit(.minutes(30)))
struct KeyframePlaylistTests {
    /// A stream of six seconds whose playlist of keyframes has one each two seconds.
    private func stream() async throws -> Scratch {
        let folder = try Scratch()
        let made = try await command([
            "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=160x90:rate=10:duration=6", "-c:v", "libx264",
            "-preset", "ultrafast", "-g", "20", "-pix_fmt", "yuv420p", "-f", "hls", "-hls_time", "2", "-hls_list_size",
            "0", "-hls_playlist_type", "vod", "-hls_segment_filename", folder.file("v%d.ts"), folder.file("v.m3u8"),
        ])
        try #require(made.status == 0, "\(made)")
        for number in 0..<3 {
            let cut = try await command([
                "ffmpeg", "-v", "error", "-i", folder.file("v\(number).ts"), "-frames:v", "1", "-c", "copy",
                "-copyts", "-muxdelay", "0", "-f", "mpegts", folder.file("k\(number).ts"),
            ])
            try #require(cut.status == 0, "\(cut)")
        }
        let keyframes = (0..<3).map { "#EXTINF:2,\nk\($0).ts\n" }.joined()
        let tags = ["#EXTM3U", "#EXT-X-VERSION:4", "#EXT-X-TARGETDURATION:2", "#EXT-X-PLAYLIST-TYPE:VOD"]
        let head = (tags + ["#EXT-X-I-FRAMES-ONLY", ""]).joined(separator: "\n")
        try write("\(head)\(keyframes)#EXT-X-ENDLIST\n", folder.file("k.m3u8"))
        let master =
            "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=9000000\nv.m3u8\n"
            + "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=9000000,URI=\"k.m3u8\"\n"
        try write(master, folder.file("master.m3u8"))
        return folder
    }

    private func write(_ text: String, _ path: String) throws {
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    private func check(_ folder: Scratch, _ name: String) async throws -> StreamCheckReport {
        var configuration = StreamCheckConfiguration()
        configuration.segmentCount = 3
        let url = try HTTPURL("http://folder.example/\(name)")
        let transport = FolderTransport(folder: folder)
        return await StreamCheck(url, transport: transport, clock: SteppingClock(), configuration: configuration).run()
    }

    @Test("A playlist of keyframes breaks no rule of ordinary media, alone and beside it", arguments: ["k", "master"])
    func right(name: String) async throws {
        let report = try await check(try await stream(), "\(name).m3u8")
        let found = report.findings.filter { $0.rule != "content-type-wrong" }.map { "\($0.rule) \($0.message)" }
        #expect(found.isEmpty, "\(found)")
        #expect(report.renditionCount == (name == "k" ? 0 : 1) && report.keyframeRenditionCount == 1)
        // Each segment once, although the first one of each rendition is fetched again for comparison.
        #expect(report.readSegmentCount == (name == "k" ? 3 : 6))
    }

    @Test("A segment of a playlist of keyframes that is missing, or is no keyframe, is found")
    func wrong() async throws {
        let folder = try await stream()
        try write("", folder.file("k1.ts"))
        let report = try await check(folder, "master.m3u8")
        #expect(report.findings.contains { $0.rule == "segment-unavailable" && $0.resource.hasSuffix("k1.ts") })
    }
}
