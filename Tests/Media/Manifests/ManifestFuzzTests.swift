internal import Instrument
internal import InstrumentHTTP
internal import InstrumentTestKit
internal import TestTraits
import Testing

@testable internal import InstrumentManifests

/// Mutated manifests: the result is always a value or a typed error, and contains only web addresses.
@Suite struct ManifestFuzzTests {
    private static let seeds: [String] = [
        window(5...9, dated: true),
        """
        #EXTM3U
        #EXT-X-TARGETDURATION:4
        #EXT-X-DEFINE:NAME="a",VALUE="b"
        #EXT-X-KEY:METHOD=AES-128,URI="k",IV=0x12
        #EXT-X-MAP:URI="{$a}.mp4",BYTERANGE="10@0"
        #EXT-X-BYTERANGE:100@10
        #EXTINF:4.5,
        all.mp4
        #EXT-X-DISCONTINUITY
        #EXT-X-BYTERANGE:100
        #EXTINF:4.5,
        all.mp4
        #EXT-X-DATERANGE:ID="x",START-DATE="2026-11-21T10:00:00Z",DURATION=5
        #EXT-X-ENDLIST
        """,
        """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="n",DEFAULT=YES,URI="a.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=100,RESOLUTION=10x20,CODECS="avc1,mp4a",FRAME-RATE=25,AUDIO="a"
        v.m3u8
        """,
        mpd(
            """
            <BaseURL>x/</BaseURL><Period start="PT0S"><AdaptationSet mimeType="video/mp4"><SegmentTemplate timescale="10" \
            media="$RepresentationID$-$Time%04d$-$Number$" initialization="i" startNumber="3" endNumber="90" presentationTimeOffset="7">\
            <SegmentTimeline><S t="7" d="40" r="5"/><S d="3" r="-1"/></SegmentTimeline></SegmentTemplate>\
            <Representation id="v" bandwidth="10" width="4" height="5"/></AdaptationSet>\
            <AdaptationSet contentType="audio"><SegmentList duration="4"><SegmentURL media="a" mediaRange="1-9"/></SegmentList>\
            <Representation id="a" bandwidth="1"/></AdaptationSet></Period>
            """,
            "type=\"dynamic\" availabilityStartTime=\"2026-11-21T09:00:00Z\" timeShiftBufferDepth=\"PT1M\" minimumUpdatePeriod=\"PT2S\""
        ),
        mpd(
            """
            <Period duration="PT9S"><AdaptationSet mimeType="video/mp4"><SegmentTemplate duration="2" media="$Number$"/>\
            <Representation id="v" bandwidth="10"/></AdaptationSet></Period><Period><AdaptationSet mimeType="video/mp4">\
            <Representation id="v" bandwidth="10"><BaseURL>f.mp4</BaseURL><SegmentBase indexRange="5-99"/></Representation>\
            </AdaptationSet></Period>
            """
        ),
    ]
    private static let tokens = [
        "-1", "0", "9223372036854775807", "18446744073709551616", "1e308", "nan", "\"", "<", ">", "file:///etc/passwd",
        "concat:a",
        "\n", "#EXTINF:1,\n", "$", "{$", "}", "=", ",", "\u{0}", "é\u{301}", "r=\"-1\"", "PT9999999999999S",
        "#EXT-X-ENDLIST\n", "://", "@",
    ]

    @Test(arguments: Rounds.seeds(40))
    func mutationsEndInAValueOrATypedError(round: UInt64) throws {
        var generator = SeededGenerator(seed: round)
        var limits = ManifestLimits()
        limits.bytes = 1 << 16
        let url = try address()
        for _ in 0..<500 {
            var bytes = Array((Self.seeds.randomElement(using: &generator) ?? "").utf8)
            for _ in 0..<Int.random(in: 1...6, using: &generator) { mutate(&bytes, &generator) }
            do {
                let show = try Presentation(parsing: bytes, at: url, now: now, limits: limits)
                #expect(!show.variants.isEmpty && !show.renditions.isEmpty)
                for rendition in show.renditions { walk(rendition) }
            } catch {
                #expect(!error.message.isEmpty && !"\(error)".contains("passwd"))
            }
        }
    }

    private func mutate(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        let place = Int.random(in: 0...bytes.count, using: &generator)
        let end = min(bytes.count, place + Int.random(in: 0...12, using: &generator))
        switch Int.random(in: 0..<5, using: &generator) {
        case 0:
            bytes.replaceSubrange(place..<end, with: Array((Self.tokens.randomElement(using: &generator) ?? "").utf8))
        case 1: bytes.removeSubrange(place..<end)
        case 2: bytes.insert(contentsOf: bytes[place..<end], at: Int.random(in: 0...bytes.count, using: &generator))
        case 3: if place < bytes.count { bytes[place] = UInt8.random(in: 0...255, using: &generator) }
        default: if place < bytes.count { bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &generator) }
        }
    }

    private func walk(_ rendition: Rendition) {
        switch rendition.source {
        case .playlist(let url): #expect(["https://", "http://"].contains { url.origin.hasPrefix($0) })
        case .loaded(let playlist):
            var axis = TimelineAxis()
            var timeline = RenditionTimeline(playlist, on: &axis, now: instant(0))
            timeline.update(with: playlist, on: &axis, now: instant(5))
            look(timeline.index)
        case .segments(let index): look(index)
        case .parts(let parts):
            for case .segments(let index) in parts { look(index) }
        }
    }

    private func look(_ index: SegmentIndex) {
        for segment in [index.first, index.last, index.segment(containing: 0), index.segment(containing: .max)] {
            guard let segment else { continue }
            #expect(segment.duration >= 0 && segment.end >= segment.start)
            _ = segment.byteRange?.headerValue
        }
        _ = (index.segment(after: .min), index.segment(after: .max), index.isAligned(with: index))
        #expect(index.prefix(200).allSatisfy { $0.url.origin.hasPrefix("http") })
    }

    @Test(arguments: 0..<8)
    func mutatedReloadsAreMerged(round: UInt64) throws {
        var generator = SeededGenerator(seed: 1_000 + round)
        var axis = TimelineAxis()
        var timeline = RenditionTimeline(try mediaPlaylist(window(0...4)), on: &axis, now: instant(0))
        for step in 1..<400 {
            var bytes = Array(window(Int64(step)...Int64(step + 4), dated: step % 50 > 25).utf8)
            mutate(&bytes, &generator)
            guard case .media(let playlist)? = try? HLSPlaylist(parsing: bytes, at: address()) else { continue }
            timeline.update(with: playlist, on: &axis, now: instant(Double(step)))
            for (segment, next) in zip(timeline.index, timeline.index.dropFirst()) {
                #expect(segment.start <= next.start && (segment.sequence < next.sequence || next.sequence == .max))
            }
        }
    }

    @Test func mutatedPatchesAreSurvived() throws {
        var generator = SeededGenerator(seed: 11)
        let times = "publishTime=\"2026-11-21T09:00:00Z\""
        let template =
            "<SegmentTemplate media=\"$Time$\"><SegmentTimeline><S t=\"0\" d=\"1\"/></SegmentTimeline></SegmentTemplate>"
        let body =
            "<PatchLocation>a</PatchLocation><Period id=\"p\" start=\"PT0S\"><AdaptationSet mimeType=\"video/mp4\">"
        let manifest = mpd(
            body + template + "<Representation id=\"v\" bandwidth=\"1\"/></AdaptationSet></Period>",
            "id=\"m\" type=\"dynamic\" availabilityStartTime=\"2026-11-21T09:00:00Z\" \(times)"
        )
        let show = try presentation(manifest)
        let timeline = "/MPD/Period[@id='p']/AdaptationSet[1]/SegmentTemplate/SegmentTimeline"
        let patch = """
            <Patch mpdId="m" originalPublishTime="2026-11-21T09:00:00Z" \(times)><add sel="\(timeline)"><S d="2"/></add>\
            <replace sel="\(timeline)/S[1]/@d">3</replace><remove sel="\(timeline)/S[2]"/></Patch>
            """
        #expect(
            try show.patched(by: Array(patch.utf8), at: address(), now: now).segments().first?.duration == 3 * second
        )
        for _ in 0..<5_000 {
            var bytes = Array(patch.utf8)
            for _ in 0..<Int.random(in: 1...4, using: &generator) { mutate(&bytes, &generator) }
            guard let patched = try? show.patched(by: bytes, at: address(), now: now) else { continue }
            for rendition in patched.renditions { walk(rendition) }
        }
    }

    @Test func mutatedIndexBoxesAreSurvived() throws {
        var generator = SeededGenerator(seed: 7)
        let range = ByteRange(offset: .max - 10, length: nil)
        let file = IndexedSegments(url: try address(), indexRange: range, initialization: nil, frame: IndexFrame())
        for _ in 0..<20_000 {
            var bytes = sidx(timescale: 90_000, earliest: 5, references: [(9, 9), (.max >> 1, .max), (1, 1)])
            for _ in 0..<3 { mutate(&bytes, &generator) }
            guard let index = try? file.segments(from: bytes) else { continue }
            for segment in index { #expect(segment.duration >= 0) }
        }
    }
}
