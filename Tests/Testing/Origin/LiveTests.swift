import Foundation
import Instrument
import InstrumentHTTP
import InstrumentManifests
import NIOCore
import Testing

@testable import InstrumentOrigin

@Suite("Live streams")
struct LiveTests {
    private static let start = WallTime(milliseconds: 1_767_225_600_000)

    private func moment(_ milliseconds: Int64) -> Moment {
        Moment(
            now: WallTime(milliseconds: Self.start.milliseconds + milliseconds),
            originStart: Self.start,
            sessionStart: WallTime(milliseconds: Self.start.milliseconds + 10_000)
        )
    }

    private func text(_ path: String, _ query: String = "", at time: Int64) async throws -> String {
        let site = try Site([.fixtures(try await SharedFixtures.get())])
        let resource = try #require(site.resource(at: path, query: query, moment: moment(time)))
        let bytes = try #require(resource.body.bytes(at: 0, count: resource.body.count))
        return String(decoding: bytes.readableBytesView, as: UTF8.self)
    }

    @Test("A window slides by one segment at its time")
    func window() {
        for (time, listed) in [(0, 25..<30), (1_999, 25..<30), (2_000, 26..<31), (86_400_000, 43_225..<43_230)] {
            let window = LiveWindow.live(at: moment(Int64(time)), segment: 2_000, window: 5)
            #expect(window.listed == listed && window.available == (listed.lowerBound - 5)..<listed.upperBound)
        }
        // A clock that was set back shows less, and nothing breaks.
        #expect(LiveWindow.live(at: moment(-58_000), segment: 2_000, window: 5).listed == 0..<1)
        #expect(LiveWindow.live(at: moment(-999_999), segment: 2_000, window: 5).listed == 0..<0)
    }

    @Test("An event grows from three segments to all, and ends")
    func event() async throws {
        for (time, count) in [(10_000, 3), (11_999, 3), (12_000, 4), (27_999, 11), (28_000, 12), (99_000, 12)] {
            let text = try await text("/event/ts/v0.m3u8", at: Int64(time))
            #expect(text.components(separatedBy: "#EXTINF").count - 1 == count)
            #expect(text.hasSuffix("#EXT-X-ENDLIST\n") == (count == 12) && text.contains("PLAYLIST-TYPE:EVENT"))
        }
    }

    @Test("The loop's seam is a discontinuity in transport streams, and still counts after it has left the window")
    func seam() async throws {
        var before = -1
        var lastDate: [Int: String] = [:]
        for second in stride(from: Int64(0), to: 60_000, by: 1_000) {
            let text = try await text("/live/ts/v1.m3u8", "window=3", at: second)
            let playlist = try Playlist(text)
            #expect(playlist.numbers.count == 3 && playlist.sequence >= before)
            before = playlist.sequence
            #expect(playlist.discontinuities == playlist.numbers.filter { $0 % 12 == 0 })
            // Those with a discontinuity that come before the first one listed.
            #expect(playlist.discontinuitySequence == (1..<playlist.sequence).filter { $0 % 12 == 0 }.count)
            for (number, date) in zip(playlist.numbers, playlist.dates) {
                #expect(lastDate[number] == nil || lastDate[number] == date)
                lastDate[number] = date
            }
            #expect(text.contains("v1/\(playlist.sequence).ts?window=3"))
        }
        let fragmented = try await text("/live/fmp4/v1.m3u8", at: 30_000)
        #expect(!fragmented.contains("DISCONTINUITY") && fragmented.contains("#EXT-X-MAP:URI=\"v1/init.mp4\""))
    }

    @Test("Dates are those of the server's clock")
    func dates() async throws {
        let playlist = try Playlist(try await text("/live/ts6/v0.m3u8", at: 0))
        #expect(playlist.numbers == [5, 6, 7, 8, 9])
        #expect(playlist.dates.first == "2025-12-31T23:59:30.000Z" && playlist.dates.last == "2025-12-31T23:59:54.000Z")
    }

    @Test("A dynamic manifest declares the clock and the start")
    func dash() async throws {
        let text = try await text("/live/dash/number.mpd", "window=10", at: 5_000)
        for part in [
            "type=\"dynamic\"", "availabilityStartTime=\"2025-12-31T23:59:00.000Z\"", "timeShiftBufferDepth=\"PT20S\"",
            "value=\"2026-01-01T00:00:05.000Z\"", "startNumber=\"0\"",
        ] { #expect(text.contains(part), "\(part)") }
        let parser = TagCheck(text)
        #expect(parser.isWellFormed && parser.count("Representation") == 5)
    }

    @Test("A patch makes the later manifest of an earlier one", arguments: [2_000, 6_500, 30_000])
    func patches(later: Int64) async throws {
        let url = try HTTPURL("http://origin.test/live/dash/patch.mpd")
        func presentation(at time: Int64) async throws -> Presentation {
            let text = try await text("/live/dash/patch.mpd", "window=10", at: time)
            #expect(TagCheck(text).isWellFormed)
            return try Presentation(parsing: Array(text.utf8), at: url, now: moment(time).now)
        }
        let old = try await presentation(at: 1_000)
        let location = try #require(old.live?.patch)
        #expect(location.url.secretText == "http://origin.test/live/dash/patch.mpp?from=30&window=10")
        let patch = try await text("/live/dash/patch.mpp", "from=30&window=10", at: 1_000 + later)
        let now = moment(1_000 + later).now
        let patched = try old.patched(by: Array(patch.utf8), at: location.url, now: now)
        let new = try await presentation(at: 1_000 + later)
        #expect(patched.live == new.live && patched.renditions == new.renditions && patched.variants == new.variants)
        #expect(patched.renditions != old.renditions && patched.acceptsPatches)
        let site = try Site([.fixtures(try await SharedFixtures.get())])
        for query in ["from=30", "from=0", "from=-1", "from=999", "from=x", ""] {
            let found = site.resource(at: "/live/dash/patch.mpp", query: query, moment: moment(60_500))
            #expect(found == nil, "\(query)")
        }
    }

    @Test("Every manifest is well-formed", arguments: DASHAddressing.allCases)
    func wellFormed(addressing: DASHAddressing) async throws {
        let parser = TagCheck(try await text("/vod/dash/\(addressing.rawValue).mpd", at: 0))
        #expect(parser.isWellFormed && parser.count("Period") == (addressing == .periods ? 2 : 1))
        #expect(parser.count("Representation") == (addressing == .periods ? 10 : 5))
    }

    /// A path without `..`, as clients resolve it (RFC 3986, section 5.2.4).
    private static func withoutDots(_ path: String) -> String {
        var names: [Substring] = []
        for name in path.split(separator: "/", omittingEmptySubsequences: false) {
            if name == ".." { _ = names.popLast() } else { names.append(name) }
        }
        return names.joined(separator: "/")
    }

    @Test("Every path of the catalogue and every reference of a playlist exists")
    func complete() async throws {
        let fixtures = try await SharedFixtures.get()
        let site = try Site([.fixtures(fixtures)])
        #expect(site.catalogue.count == 74)
        var pending = site.catalogue.map { "/" + $0.path }
        var seen = Set(pending)
        while let path = pending.popLast() {
            // Apart, because a failure would print the whole site.
            let found = site.resource(at: path, query: "", moment: moment(20_000))
            let resource = try #require(found, "\(path)")
            guard path.hasSuffix(".m3u8") else { continue }
            let bytes = try #require(resource.body.bytes(at: 0, count: resource.body.count))
            let folder = path[...(path.lastIndex(of: "/") ?? path.startIndex)]
            for line in String(decoding: bytes.readableBytesView, as: UTF8.self).split(separator: "\n") {
                let uri: Substring? = line.hasPrefix("#") ? Self.uri(in: line) : line
                guard let uri, !uri.hasPrefix("data:") else { continue }
                let next = Self.withoutDots(String(folder) + String(uri))
                if seen.insert(next).inserted { pending.append(next) }
            }
        }
        #expect(seen.count > 300)
    }

    private static func uri(in line: Substring) -> Substring? {
        guard let range = line.range(of: "URI=\"") else { return nil }
        return line[range.upperBound...].prefix { $0 != "\"" }
    }
}

/// A media playlist as a test reads it.
private struct Playlist {
    var sequence = 0
    var discontinuitySequence = 0
    var numbers: [Int] = []
    var discontinuities: [Int] = []
    var dates: [String] = []

    init(_ text: String) throws {
        var isDiscontinuity = false
        for line in text.split(separator: "\n") {
            if let value = Self.value(line, "#EXT-X-MEDIA-SEQUENCE:") { sequence = try #require(Int(value)) }
            if let value = Self.value(line, "#EXT-X-DISCONTINUITY-SEQUENCE:") {
                discontinuitySequence = try #require(Int(value))
            }
            if let value = Self.value(line, "#EXT-X-PROGRAM-DATE-TIME:") { dates.append(String(value)) }
            if line == "#EXT-X-DISCONTINUITY" { isDiscontinuity = true }
            guard !line.hasPrefix("#") else { continue }
            let number = try #require(line.split(separator: "/").last?.split(separator: ".").first.flatMap { Int($0) })
            numbers.append(number)
            if isDiscontinuity { discontinuities.append(number) }
            isDiscontinuity = false
        }
        #expect(numbers.first == nil || numbers.first == sequence)
    }

    private static func value(_ line: Substring, _ tag: String) -> Substring? {
        line.hasPrefix(tag) ? line.dropFirst(tag.count) : nil
    }
}

/// Whether tags match, which is sufficient for text from a template.
private struct TagCheck {
    private(set) var isWellFormed = true
    private var counts: [Substring: Int] = [:]

    init(_ text: String) {
        var open: [Substring] = []
        for part in text.split(separator: "<") {
            guard let end = part.firstIndex(of: ">") else {
                isWellFormed = false
                return
            }
            let tag = part[..<end]
            if tag.hasPrefix("?") { continue }
            if tag.hasPrefix("/") {
                if open.popLast() != tag.dropFirst() { isWellFormed = false }
                continue
            }
            let name = tag.prefix { $0 != " " && $0 != "/" }
            counts[name, default: 0] += 1
            if tag.filter({ $0 == "\"" }).count % 2 != 0 { isWellFormed = false }
            if !tag.hasSuffix("/") { open.append(name) }
        }
        if !open.isEmpty { isWellFormed = false }
    }

    func count(_ name: Substring) -> Int { counts[name, default: 0] }
}
