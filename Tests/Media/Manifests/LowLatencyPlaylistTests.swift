import Instrument
import InstrumentHTTP
import Testing

@testable import InstrumentManifests

@Suite("Low-latency HLS")
struct LowLatencyPlaylistTests {
    private let second: Int64 = 1_000_000_000
    private static let head = """
        #EXTM3U
        #EXT-X-VERSION:9
        #EXT-X-TARGETDURATION:4
        #EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=3.0,CAN-SKIP-UNTIL=24
        #EXT-X-PART-INF:PART-TARGET=1

        """

    private func url(_ name: String) throws -> HTTPURL { try HTTPURL("https://media.test/show/" + name) }

    private func playlist(_ text: String) throws -> HLSMediaPlaylist {
        let parsed = try HLSPlaylist(parsing: Array((Self.head + text).utf8), at: try url("v.m3u8"))
        guard case .media(let playlist) = parsed else { throw ManifestError(.malformed, "no media playlist") }
        return playlist
    }

    /// Complete segments of four seconds; `parts` of the last one and of the next, of one second each.
    private func live(_ numbers: Range<Int>, open parts: Int, skipped: Int = 0, map: Bool = true) throws
        -> HLSMediaPlaylist
    {
        var lines = ["#EXT-X-MEDIA-SEQUENCE:\(numbers.lowerBound)"]
        if map { lines.append("#EXT-X-MAP:URI=\"init.mp4\"") }
        if skipped > 0 { lines.append("#EXT-X-SKIP:SKIPPED-SEGMENTS=\(skipped)") }
        for number in numbers.dropFirst(skipped) {
            if number == numbers.upperBound - 1 { lines += (0..<4).map { part(number, $0) } }
            lines += ["#EXTINF:4,", "\(number).m4s"]
        }
        lines += (0..<parts).map { part(numbers.upperBound, $0) }
        lines.append("#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"\(numbers.upperBound).\(parts).m4s\"")
        return try playlist(lines.joined(separator: "\n"))
    }

    private func part(_ segment: Int, _ place: Int) -> String {
        "#EXT-X-PART:DURATION=1,URI=\"\(segment).\(place).m4s\"" + (place % 2 == 0 ? ",INDEPENDENT=YES" : "")
    }

    private func timeline(_ playlist: HLSMediaPlaylist, usesParts: Bool = true) -> RenditionTimeline {
        var axis = TimelineAxis()
        return RenditionTimeline(playlist, on: &axis, usesParts: usesParts, now: MonotonicInstant(nanoseconds: 0))
    }

    private func update(_ timeline: inout RenditionTimeline, _ playlist: HLSMediaPlaylist) -> Bool {
        var axis = TimelineAxis()
        return timeline.update(with: playlist, on: &axis, now: MonotonicInstant(nanoseconds: second))
    }

    @Test("Parts, their ranges, the hint, reports and the server's abilities are read")
    func tags() throws {
        let playlist = try playlist(
            """
            #EXT-X-MEDIA-SEQUENCE:7
            #EXT-X-PART:DURATION=1.0,URI="7.mp4",BYTERANGE="100@0",INDEPENDENT=YES
            #EXT-X-PART:DURATION=0.9,URI="7.mp4",BYTERANGE=50
            #EXTINF:1.9,
            7.mp4
            #EXT-X-PART:DURATION=1,URI="8.mp4",BYTERANGE="10@0",GAP=YES
            #EXT-X-PRELOAD-HINT:TYPE=MAP,URI="init.mp4"
            #EXT-X-PRELOAD-HINT:TYPE=PART,URI="8.mp4",BYTERANGE-START=10
            #EXT-X-RENDITION-REPORT:URI="../other/a.m3u8",LAST-MSN=8,LAST-PART=2
            #EXT-X-RENDITION-REPORT:URI="b.m3u8",LAST-MSN=9
            """
        )
        let control = playlist.control
        #expect(control.canBlockReload && control.partTarget == second && control.partHoldBack == 3 * second)
        #expect(control.canSkipUntil == 24 * second && control.holdBack == nil)
        let segment = try #require(playlist.segments.first)
        #expect(
            segment.parts.map(\.byteRange) == [ByteRange(offset: 0, length: 100), ByteRange(offset: 100, length: 50)]
        )
        #expect(segment.parts.map(\.isIndependent) == [true, false] && segment.parts.map(\.offset) == [0, second])
        let open = try #require(playlist.openSegment)
        #expect(open.sequence == 8 && open.start == 1_900_000_000 && open.duration == second)
        #expect(open.parts.map(\.isGap) == [true])
        #expect(
            playlist.preloadHint == PreloadHint(url: try url("8.mp4"), byteRange: ByteRange(offset: 10, length: nil))
        )
        #expect(
            playlist.renditionReports == [
                RenditionReport(url: try HTTPURL("https://media.test/other/a.m3u8"), lastSequence: 8, lastPart: 2),
                RenditionReport(url: try url("b.m3u8"), lastSequence: 9, lastPart: 0),
            ]
        )
        let second = try #require(segment.partial(1))
        #expect(second.sequence == 7 && second.part == 1 && second.start == self.second)
        #expect(second.duration == 900_000_000 && second.byteRange?.offset == 100 && segment.partial(2) == nil)
    }

    @Test("What a report leaves out is as in its own playlist")
    func omittedAttributes() throws {
        func report(_ attributes: String, behind segments: String) throws -> RenditionReport? {
            let text = "#EXT-X-MEDIA-SEQUENCE:7\n\(segments)\n#EXT-X-RENDITION-REPORT:URI=\"b.m3u8\"\(attributes)\n"
            return try playlist(text).renditionReports.first
        }
        func expected(_ sequence: Int64, _ part: Int?) throws -> RenditionReport {
            RenditionReport(url: try url("b.m3u8"), lastSequence: sequence, lastPart: part)
        }
        let complete = [part(7, 0), part(7, 1), "#EXTINF:2,\n7.m4s"].joined(separator: "\n")
        let open = complete + "\n" + part(8, 0)
        #expect(try report("", behind: open) == expected(8, 0))
        #expect(try report(",LAST-PART=3", behind: open) == expected(8, 3))
        #expect(try report(",LAST-MSN=9", behind: complete) == expected(9, 1))
        #expect(try report("", behind: complete) == expected(7, 1))
        #expect(try report("", behind: "#EXTINF:2,\n7.m4s") == expected(7, nil))
        #expect(try report("", behind: "") == nil)
    }

    @Test("Tags without what they need are passed over with a notice, and a part's range must be a range")
    func damagedTags() throws {
        let playlist = try playlist("#EXT-X-PART:DURATION=1\n#EXT-X-PART:URI=\"a\"\n#EXT-X-PART-INF:PART-TARGET=0\n")
        #expect(playlist.openSegment == nil && playlist.notices.count == 2 && playlist.control.partTarget == second)
        #expect(throws: ManifestError.self) {
            try self.playlist("#EXT-X-PART:DURATION=1,URI=\"a\",BYTERANGE=\"x\"\n")
        }
    }

    @Test("Hints of a part and of a section are read, the first of each")
    func hints() throws {
        let playlist = try playlist(
            """
            #EXT-X-PART:DURATION=1,URI="0.0.m4s"
            #EXT-X-PRELOAD-HINT:TYPE=PART,URI="a.m4s",BYTERANGE-START=20,BYTERANGE-LENGTH=30
            #EXT-X-PRELOAD-HINT:TYPE=MAP,URI="init2.mp4",BYTERANGE-LENGTH=700
            #EXT-X-PRELOAD-HINT:TYPE=PART,URI="b.m4s"
            #EXT-X-PRELOAD-HINT:TYPE=FUTURE,URI="c"
            """
        )
        let part = try #require(playlist.preloadHint)
        #expect(part == PreloadHint(url: try url("a.m4s"), byteRange: ByteRange(offset: 20, length: 30)))
        let section = PreloadHint(url: try url("init2.mp4"), byteRange: ByteRange(offset: 0, length: 700))
        #expect(playlist.initializationHint == section && !part.isOpenEnded)
        #expect(playlist.notices.map(\.line) == [9])
        #expect(PreloadHint(url: part.url, byteRange: ByteRange(offset: 0, length: nil)).isOpenEnded)
    }

    @Test(
        "A hint that cannot be requested is passed over with a notice",
        arguments: [
            "URI=\"a\",BYTERANGE-START=-1", "URI=\"a\",BYTERANGE-START=x", "URI=\"a\",BYTERANGE-LENGTH=0",
            "URI=\"a\",BYTERANGE-START=1,BYTERANGE-LENGTH=9223372036854775807",
            "URI=\"a\",BYTERANGE-START=99999999999999999999", "URI=\"a\",BYTERANGE-LENGTH=", "BYTERANGE-START=1",
            "URI=\"file:///etc/passwd\"", "URI=\"concat:a|b\"",
        ]
    )
    func damagedHints(attributes: String) throws {
        for type in ["PART", "MAP"] {
            let text = "#EXTINF:4,\n0.m4s\n#EXT-X-PRELOAD-HINT:TYPE=\(type),\(attributes)\n"
            let playlist = try playlist(text + "#EXT-X-RENDITION-REPORT:URI=\"file:///x\",LAST-MSN=1\n")
            #expect(playlist.preloadHint == nil && playlist.initializationHint == nil, "\(type)")
            #expect(playlist.segments.count == 1 && !playlist.notices.isEmpty && playlist.renditionReports.isEmpty)
            #expect(!"\(playlist.notices)".contains("passwd"))
        }
    }

    @Test("A hint is the next part of the segment in production, and a complete playlist has none")
    func hintedPart() throws {
        var timeline = timeline(try live(10..<14, open: 2))
        let part = try #require(timeline.hintedPart)
        #expect(part.sequence == 14 && part.part == 2 && part.url.path == "/show/14.2.m4s" && part.byteRange == nil)
        #expect(part.start == 18 * second && part.duration == second && part.initialization != nil)
        _ = update(&timeline, try live(10..<15, open: 0))
        #expect(timeline.hintedPart?.sequence == 15 && timeline.hintedPart?.part == 0)
        #expect(timeline.hintedPart?.start == 20 * second)
        let ended = try playlist("#EXTINF:4,\n0.m4s\n#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"a\"\n#EXT-X-ENDLIST\n")
        #expect(ended.preloadHint == nil)
        #expect(self.timeline(try live(10..<14, open: 2), usesParts: false).hintedPart == nil)
    }

    @Test("Behind the segments come the parts of the segment in production, then those of the next")
    func units() throws {
        var timeline = timeline(try live(10..<14, open: 2))
        #expect(timeline.targetLatency == 3 * second && timeline.liveEdge(at: WallTime(milliseconds: 0)) == 18 * second)
        let next = try #require(timeline.unit(after: 13, part: nil, endingAt: 16 * second))
        #expect(next.sequence == 14 && next.part == 0 && next.start == 16 * second)
        #expect(next.initialization?.url.path == "/show/init.mp4")
        #expect(timeline.unit(after: 14, part: 0, endingAt: 17 * second)?.part == 1)
        #expect(timeline.unit(after: 14, part: 1, endingAt: 18 * second) == nil)
        #expect(timeline.nextPart?.sequence == 14 && timeline.nextPart?.part == 2)
        #expect(update(&timeline, try live(10..<14, open: 3)))
        #expect(timeline.unit(after: 14, part: 1, endingAt: 18 * second)?.part == 2)
        // Complete: the last part, then the next segment's first part.
        #expect(update(&timeline, try live(11..<15, open: 1)))
        #expect(timeline.unit(after: 14, part: 2, endingAt: 19 * second)?.part == 3)
        let following = timeline.unit(after: 14, part: 3, endingAt: 20 * second)
        #expect(following?.sequence == 15 && following?.part == 0 && following?.start == 20 * second)
        // Its parts are listed no longer: the whole segment has the rest.
        #expect(update(&timeline, try live(11..<16, open: 0)))
        let whole = timeline.unit(after: 14, part: 2, endingAt: 19 * second)
        #expect(whole?.sequence == 14 && whole?.part == nil)
        #expect(timeline.unit(after: 14, part: 3, endingAt: 20 * second)?.sequence == 15)
        #expect(timeline.unit(after: 15, part: nil, endingAt: 24 * second) == nil)
    }

    @Test("Playback begins with the last part before its position at which decoding can begin")
    func start() throws {
        let timeline = timeline(try live(10..<14, open: 3))
        #expect(timeline.unit(containing: 15 * second + 1)?.part == 2)
        #expect(timeline.unit(containing: 17 * second + 1)?.part == 0)
        #expect(timeline.unit(containing: 18 * second + 1)?.part == 2)
        #expect(timeline.unit(containing: 19 * second) == nil)
        let old = try #require(timeline.unit(containing: second))
        #expect(old.sequence == 10 && old.part == nil)
    }

    @Test("A player of whole segments has no parts, and the latency of whole segments")
    func wholeSegments() throws {
        let timeline = timeline(try live(10..<14, open: 3), usesParts: false)
        #expect(timeline.openSegment == nil && timeline.index.allSatisfy(\.parts.isEmpty))
        #expect(
            timeline.targetLatency == 12 * second && timeline.liveEdge(at: WallTime(milliseconds: 0)) == 16 * second
        )
        #expect(timeline.unit(after: 13, part: nil, endingAt: 16 * second) == nil)
    }

    @Test("A delta update keeps the segments that it leaves out, and their initialization section")
    func delta() throws {
        var timeline = timeline(try live(10..<20, open: 2))
        #expect(update(&timeline, try live(11..<21, open: 1, skipped: 7, map: false)))
        #expect(timeline.index.map(\.sequence) == Array(11..<21))
        #expect(timeline.index.map(\.start) == (1..<11).map { Int64($0) * 4 * second })
        #expect(timeline.index.allSatisfy { $0.initialization?.url.path == "/show/init.mp4" })
        #expect(timeline.openSegment?.initialization != nil && !timeline.needsWholePlaylist)
        var whole = timeline
        _ = update(&whole, try live(11..<21, open: 1))
        #expect(whole.index == timeline.index && whole.openSegment == timeline.openSegment)
    }

    @Test("A delta update continues the dates that it leaves out")
    func datedDelta() throws {
        func text(_ numbers: Range<Int>, skipped: Int = 0) throws -> HLSMediaPlaylist {
            var playlist = try live(numbers, open: 1, skipped: skipped)
            guard skipped == 0 else { return playlist }
            // One date at the head of the playlist.
            for place in playlist.segments.indices {
                let milliseconds = Int64(numbers.lowerBound + place) * 4_000
                playlist.segments[place].wallTime = WallTime(milliseconds: milliseconds)
            }
            return playlist
        }
        var timeline = timeline(try text(10..<20))
        #expect(update(&timeline, try text(12..<22, skipped: 7)))
        #expect(timeline.index.map(\.wallTime) == (12..<22).map { WallTime(milliseconds: $0 * 4_000) })
        #expect(timeline.openSegment?.wallTime == WallTime(milliseconds: 88_000))
    }

    @Test("A delta update without a known segment changes nothing, and asks for the whole playlist")
    func strangeDelta() throws {
        var timeline = timeline(try live(10..<14, open: 2))
        let known = timeline.index
        #expect(!update(&timeline, try live(20..<40, open: 1, skipped: 7, map: false)))
        #expect(timeline.needsWholePlaylist && timeline.index == known && timeline.openSegment?.sequence == 14)
        #expect(update(&timeline, try live(20..<40, open: 1)))
        #expect(!timeline.needsWholePlaylist && timeline.openSegment?.sequence == 40)
    }

    @Test("Parts of encrypted segments are used, with the key and the vector of their segment")
    func encrypted() throws {
        func playlist(_ method: String) throws -> HLSMediaPlaylist {
            let key = "#EXT-X-KEY:METHOD=\(method),URI=\"k\"\n"
            return try self.playlist(key + part(1, 0) + "\n#EXTINF:4,\n1.m4s\n" + part(2, 0))
        }
        var whole = timeline(try playlist("AES-128"))
        _ = update(&whole, try playlist("AES-128"))
        let parts = [whole.index.first?.partial(0), whole.openSegment?.partial(0)].compactMap(\.self)
        #expect(parts.map(\.encryption?.keyURL?.path) == ["/show/k", "/show/k"])
        #expect(parts.map(\.encryption?.initializationVector.last) == [0, 1])
        var samples = timeline(try playlist("SAMPLE-AES"))
        _ = update(&samples, try playlist("SAMPLE-AES"))
        #expect(samples.openSegment?.parts.count == 1 && samples.index.map(\.parts.count) == [1])
    }
}
