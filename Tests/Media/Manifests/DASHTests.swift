internal import Foundation
internal import Instrument
internal import InstrumentHTTP
internal import InstrumentManifests
internal import Testing

func mpd(
    _ body: String,
    _ attributes: String = "type=\"static\" mediaPresentationDuration=\"PT20S\"",
    before: String = ""
)
    -> String
{
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" \(attributes)>\(before)\(body)</MPD>"
}

private func video(_ information: String, _ attributes: String = "") -> String {
    """
    <AdaptationSet contentType="video" mimeType="video/mp4" \(attributes)>\(information)
      <Representation id="v1" bandwidth="1000000" width="640" height="360" frameRate="30000/1001" codecs="avc1.64001e"/>
      <Representation id="v2" bandwidth="3000000" width="1280" height="720" codecs="avc1.64001f"/>
    </AdaptationSet>
    """
}

@Suite struct DASHTests {
    @Test func aNumberTemplateIsExpandedOnDemand() throws {
        let template =
            "<SegmentTemplate media=\"$RepresentationID$/$Bandwidth$-$Number%05d$$$.m4s\" "
            + "initialization=\"$RepresentationID$/init.mp4\" duration=\"6006\" timescale=\"1000\" startNumber=\"10\"/>"
        let show = try presentation(mpd("<Period>\(video(template))</Period>"), at: "https://media.test/a/b/x.mpd")
        let index = try show.segments()
        #expect(show.format == .dash && show.kind == .onDemand && show.duration == 20 * second && index.isComplete)
        #expect(
            show.variants.map(\.peakBitrate) == [1_000_000, 3_000_000] && show.variants[0].frameRate == 30_000 / 1_001.0
        )
        #expect(index.map(\.text) == (10...13).map { "https://media.test/a/b/v1/1000000-000\($0)$.m4s" })
        #expect(index.map(\.start) == [0, 6_006_000_000, 12_012_000_000, 18_018_000_000])
        #expect(index.end == 20 * second && index.first?.initialization?.url.path == "/a/b/v1/init.mp4")
        #expect(
            index.segment(containing: 12_012_000_000)?.sequence == 12 && index.segment(containing: 20 * second) == nil
        )
        #expect(index.isAligned(with: try show.segments(.video, 1)))
    }

    @Test func aTimelineWithRepeatsAndAHoleIsExpanded() throws {
        let template = """
            <SegmentTemplate media="$Time$.m4s" timescale="10" presentationTimeOffset="100">
            <SegmentTimeline><S t="100" d="40" r="1"/><S d="20"/><S t="220" d="30" r="-1"/></SegmentTimeline></SegmentTemplate>
            """
        let index = try presentation(mpd("<Period>\(video(template))</Period>")).segments()
        #expect(
            index.filter { !$0.isGap }.map { $0.url.path } == [100, 140, 180, 220, 250, 280].map { "/show/\($0).m4s" }
        )
        #expect(index.map(\.seconds) == [0, 4, 8, 10, 12, 15, 18] && index.map(\.isGap).firstIndex(of: true) == 3)
        #expect(index.map(\.mediaTime).first == 10 * second && index.end == 20 * second)
    }

    @Test func segmentInformationIsInheritedFromEveryLevel() throws {
        let body = """
            <BaseURL>https://cdn.test/root/</BaseURL>
            <Period><BaseURL>p1/</BaseURL><SegmentTemplate timescale="1" duration="10" media="p-$Number$"/>
            <AdaptationSet mimeType="video/mp4"><BaseURL>set/</BaseURL><SegmentTemplate duration="5"/>
            <Representation id="a" bandwidth="1"><BaseURL>rep/</BaseURL><SegmentTemplate media="r-$Number$"/></Representation>
            </AdaptationSet></Period>
            """
        let index = try presentation(mpd(body)).segments()
        #expect(index.map(\.text) == (1...4).map { "https://cdn.test/root/p1/set/rep/r-\($0)" })
    }

    @Test func listsGiveAddressesAndRanges() throws {
        let list = """
            <SegmentList duration="8" timescale="1"><Initialization sourceURL="all.mp4" range="0-99"/>
            <SegmentURL media="all.mp4" mediaRange="100-199"/><SegmentURL media="all.mp4" mediaRange="200-349"/>
            <SegmentURL media="all.mp4" mediaRange="350-350"/></SegmentList>
            """
        let index = try presentation(mpd("<Period>\(video(list))</Period>")).segments()
        #expect(
            index.map(\.byteRange) == [
                .init(offset: 100, length: 100), .init(offset: 200, length: 150), .init(offset: 350, length: 1),
            ]
        )
        #expect(index.map(\.seconds) == [0, 8, 16] && index.end == 20 * second)
        #expect(index.first?.initialization?.byteRange == .init(offset: 0, length: 100))
    }

    @Test func anIndexBoxGivesTheSegmentsOfAFile() throws {
        let base =
            "<SegmentBase indexRange=\"800-871\" timescale=\"1000\" presentationTimeOffset=\"2000\"><Initialization range=\"0-799\"/></SegmentBase>"
        let show = try presentation(mpd("<Period>\(video(base))</Period>"))
        guard case .parts(let parts) = show.renditions[0].source, case .index(let file) = parts[0] else {
            throw ManifestError(.malformed, "no index")
        }
        #expect(file.indexRange == .init(offset: 800, length: 72))
        let box = sidx(timescale: 1_000, earliest: 2_000, references: [(5_000, 10_000), (7_000, 4_000)])
        let index = SegmentIndex(joining: [try file.segments(from: box)])
        let end = 800 + Int64(box.count)
        #expect(
            index.map(\.byteRange) == [.init(offset: end, length: 5_000), .init(offset: end + 5_000, length: 7_000)]
        )
        #expect(
            index.map(\.seconds) == [0, 10] && index.end == 14 * second && index.map(\.bitrate) == [4_000, 14_000]
        )
        for length in 0..<box.count {
            #expect(manifestError { _ = try file.segments(from: Array(box.prefix(length))) }?.code == .malformed)
        }
        let nested = sidx(timescale: 1, earliest: 0, references: [(1 << 31 | 5, 1)])
        #expect(manifestError { _ = try file.segments(from: nested) }?.code == .unsupported)
    }

    @Test func periodsFollowOneAnotherWithTheirOwnInitialization() throws {
        func period(_ name: String, _ attributes: String, _ ids: [String]) -> String {
            let representations = ids.map { "<Representation id=\"\($0)\" bandwidth=\"\($0.count)\"/>" }.joined()
            return "<Period \(attributes)><AdaptationSet mimeType=\"video/mp4\"><SegmentTemplate duration=\"5\" "
                + "initialization=\"\(name)/$RepresentationID$.mp4\" media=\"\(name)/$RepresentationID$-$Number$\"/>\(representations)</AdaptationSet></Period>"
        }
        let body =
            period("one", "duration=\"PT10S\"", ["a", "bb"]) + period("ad", "duration=\"PT7S\"", ["x"])
            + period("two", "", ["bb", "a"])
        let show = try presentation(mpd(body, "type=\"static\" mediaPresentationDuration=\"PT22S\""))
        let index = try show.segments(.video, 1)
        #expect(
            index.map(\.url.path) == ["one/bb-1", "one/bb-2", "ad/x-1", "ad/x-2", "two/bb-1"].map { "/show/" + $0 }
        )
        #expect(
            index.map(\.seconds) == [0, 5, 10, 15, 17] && index.map(\.duration) == [5, 5, 5, 2, 5].map { $0 * second }
        )
        #expect(index.map(\.discontinuity) == [0, 0, 10, 10, 17].map { $0 * second })
        let numbers = index.map(\.sequence)
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 + 1 })
        #expect(Set(index.compactMap(\.initialization)).count == 3)
    }

    @Test func periodsContinueInTheSameCodecs() throws {
        func set(_ codecs: String, _ ids: [(String, Int)]) -> String {
            let representations = ids.map { "<Representation id=\"\($0.0)\" bandwidth=\"\($0.1)\"/>" }.joined()
            return "<AdaptationSet mimeType=\"video/mp4\" codecs=\"\(codecs)\"><SegmentTemplate duration=\"5\" "
                + "media=\"$RepresentationID$-$Number$\"/>\(representations)</AdaptationSet>"
        }
        let one = set("avc1.64001f", [("a", 1_000), ("b", 3_000), ("c", 5_000)])
        let two = set("hvc1.1.6.L93.B0", [("h", 2_900)]) + set("avc3.64001f", [("z", 800)])
        let body = "<Period duration=\"PT5S\">\(one)</Period><Period duration=\"PT5S\">\(two)</Period>"
        let show = try presentation(mpd(body, "type=\"static\" mediaPresentationDuration=\"PT10S\""))
        let segments = try show.segments(.video, 1)
        #expect(segments.map(\.url.path) == ["/show/b-1", "/show/z-1"])
        #expect(segments.map(\.peakBitrate) == [3_000, 800])
    }

    @Test func anIdentifierOfAnotherQualityIsAnotherRepresentation() throws {
        func period(_ rates: [(String, Int)]) -> String {
            let representations = rates.map { "<Representation id=\"\($0.0)\" bandwidth=\"\($0.1)\"/>" }.joined()
            return "<Period duration=\"PT5S\"><AdaptationSet mimeType=\"video/mp4\"><SegmentTemplate duration=\"5\" "
                + "media=\"$RepresentationID$-$Number$\"/>\(representations)</AdaptationSet></Period>"
        }
        let show = [("1", 5_000), ("2", 3_000), ("3", 1_000)]
        let body = period(show) + period([("1", 700), ("2", 2_900)]) + period(show.map { ($0.0, $0.1 + 100) })
        let presentation = try presentation(mpd(body, "type=\"static\" mediaPresentationDuration=\"PT15S\""))
        let paths = try (0..<3).map { try presentation.segments(.video, $0).map { String($0.url.path.dropFirst(6)) } }
        #expect(paths == [["1-1", "2-1", "1-1"], ["2-1", "2-1", "2-1"], ["3-1", "1-1", "3-1"]])
    }

    @Test func theServiceDescriptionForEverybodyLimitsLatencyAndRate() throws {
        func limits(_ services: String) throws -> ServiceLimits? {
            let template = video("<SegmentTemplate duration=\"4\" media=\"$Number$\"/>")
            let text = mpd(
                "\(services)<Period start=\"PT0S\">\(template)</Period>",
                "type=\"dynamic\" availabilityStartTime=\"2026-11-21T09:00:00Z\""
            )
            return try presentation(text).live?.service
        }
        let scoped = "<ServiceDescription><Scope/><Latency min=\"1\" max=\"2\"/></ServiceDescription>"
        let service =
            "<ServiceDescription><Latency target=\"3000\" min=\"2000\" max=\"6000\"/><PlaybackRate min=\"0.9\" max=\"1.2\"/></ServiceDescription>"
        let found = try #require(try limits(scoped + service))
        #expect(found.minimumLatency == 2 * second && found.maximumLatency == 6 * second)
        #expect(found.minimumRate == 0.9 && found.maximumRate == 1.2)
        let odd = service.replacing("6000", with: "1000").replacing("0.9", with: "-1").replacing("1.2", with: "0.5")
        let rest = try #require(try limits(odd))
        #expect(rest.minimumLatency == 2 * second && rest.maximumLatency == nil)
        #expect(rest.minimumRate == nil && rest.maximumRate == nil)
        #expect(try limits("") == ServiceLimits())
    }

    @Test func audioAndSubtitlesAreRenditionsByLanguageAndRole() throws {
        let template = "<SegmentTemplate duration=\"10\" media=\"$RepresentationID$-$Number$\"/>"
        let sets =
            video(template) + """
                <AdaptationSet mimeType="audio/mp4" lang="fr">\(template)<Representation id="f" bandwidth="64000" codecs="mp4a.40.2"/></AdaptationSet>
                <AdaptationSet mimeType="audio/mp4" lang="en"><Role schemeIdUri="urn:mpeg:dash:role:2011" value="main"/>\(template)
                <Representation id="e" bandwidth="64000"/><Representation id="h" bandwidth="128000"/></AdaptationSet>
                <AdaptationSet mimeType="text/vtt" lang="en"><Representation id="t" bandwidth="1"><BaseURL>en.vtt</BaseURL></Representation></AdaptationSet>
                <AdaptationSet mimeType="image/jpeg">\(template)<Representation id="i" bandwidth="1"/></AdaptationSet>
                <AdaptationSet mimeType="video/mp4"><EssentialProperty schemeIdUri="http://dashif.org/guidelines/trickmode" value="1"/>\(template)<Representation id="k" bandwidth="1"/></AdaptationSet>
                """
        let show = try presentation(mpd("<Period>\(sets)</Period>"))
        #expect(show.variants.count == 2 && show.renditions.count == 6)
        let audio = show.variants[0].audio.compactMap(show.rendition)
        #expect(audio.map(\.language) == ["en", "en", "fr"] && audio.map(\.bitrate) == [128_000, 64_000, 64_000])
        #expect(try show.segments(.subtitles).map(\.text) == ["https://media.test/show/en.vtt"])
    }

    @Test func aLiveTemplateListsWhatIsThereAndWhatWillBe() throws {
        let template = "<SegmentTemplate duration=\"4\" media=\"$Number$.m4s\" startNumber=\"1\"/>"
        let attributes =
            "type=\"dynamic\" availabilityStartTime=\"2026-11-21T09:00:00Z\" timeShiftBufferDepth=\"PT60S\" "
            + "minimumUpdatePeriod=\"PT30S\" suggestedPresentationDelay=\"PT10S\""
        let show = try presentation(mpd("<Period start=\"PT0S\">\(video(template))</Period>", attributes))
        let rules = try #require(show.live)
        var timeline = RenditionTimeline(try show.segments(), live: rules, now: instant(0))
        #expect(show.kind == .live && timeline.nextReload == instant(30))
        #expect(timeline.liveEdge(at: now) == 3_600 * second)
        #expect(timeline.seekableRange(at: now) == 3_540 * second...3_590 * second)
        let segment = try #require(timeline.index.segment(containing: 3_596 * second))
        #expect(
            segment.url.path == "/show/900.m4s" && segment.wallTime == WallTime(milliseconds: now.milliseconds - 4_000)
        )
        #expect(timeline.segment(after: segment.sequence, at: now) == nil)
        let next = try #require(timeline.index.segment(after: segment.sequence))
        #expect(next.availability == WallTime(milliseconds: now.milliseconds + 4_000))
        #expect(timeline.segment(after: segment.sequence, at: WallTime(milliseconds: now.milliseconds + 4_000)) == next)
        let later = try presentation(
            mpd("<Period start=\"PT0S\">\(video(template))</Period>", attributes),
            now: WallTime(milliseconds: now.milliseconds + 30_000)
        )
        timeline.update(with: try later.segments(), live: later.live, now: instant(30))
        #expect(timeline.index.segment(numbered: segment.sequence) == segment && timeline.nextReload == instant(60))
    }

    @Test func aLiveTimelineKeepsItsNumbers() throws {
        func text(_ first: Int, _ count: Int) -> String {
            let template =
                "<SegmentTemplate timescale=\"1\" media=\"$Time$\"><SegmentTimeline><S t=\"\(first)\" d=\"5\" r=\"\(count - 1)\"/></SegmentTimeline></SegmentTemplate>"
            return mpd(
                "<Period start=\"PT0S\">\(video(template))</Period>",
                "type=\"dynamic\" availabilityStartTime=\"2026-11-21T09:00:00Z\" minimumUpdatePeriod=\"PT0S\""
            )
        }
        let first = try presentation(text(100, 6))
        var timeline = RenditionTimeline(try first.segments(), live: first.live, now: instant(0))
        var known = Dictionary(uniqueKeysWithValues: timeline.index.map { ($0.sequence, $0.start) })
        #expect(timeline.nextReload == instant(5))
        for step in 1...400 {
            let next = try presentation(text(100 + step * 5, 6))
            #expect(timeline.update(with: try next.segments(), live: next.live, now: instant(Double(step * 5))))
            for segment in timeline.index {
                #expect(known[segment.sequence, default: segment.start] == segment.start)
                known[segment.sequence] = segment.start
            }
        }
        #expect(known.count == 406 && timeline.index.count == 6)
    }

    @Test func segmentsThatAreListedBeforeTheyBeginBecomeAvailable() throws {
        let template = """
            <SegmentTemplate timescale="1" media="$Time$" availabilityTimeComplete="false"><SegmentTimeline>\
            <S t="3590" d="5" r="5"/></SegmentTimeline></SegmentTemplate>
            """
        let show = try presentation(
            mpd(
                "<Period start=\"PT0S\" duration=\"PT3620S\">\(video(template))</Period>",
                "type=\"dynamic\" availabilityStartTime=\"2026-11-21T09:00:00Z\" minimumUpdatePeriod=\"PT5S\""
            )
        )
        let index = try show.segments()
        func later(_ seconds: Int64) -> WallTime { WallTime(milliseconds: now.milliseconds + seconds * 1_000) }
        #expect(index.map(\.availability) == [nil, nil, nil, later(5), later(10), later(15)])
        #expect(index.map(\.completion) == [-5, 0, 5, 10, 15, 20].map(later))
        let timeline = RenditionTimeline(index, live: show.live, now: instant(0))
        #expect(timeline.liveEdge(at: now) == 3_600 * second)
        #expect(timeline.liveEdge(at: later(7)) == 3_607 * second)
    }

    @Test func theAvailabilityOfAllLevelsAddsUp() throws {
        func next(_ base: String, _ information: String = "") throws -> (MediaSegment, RenditionTimeline) {
            let template = "<SegmentTemplate duration=\"4\" media=\"$Number$\" startNumber=\"1\" \(information)/>"
            let show = try presentation(
                mpd(
                    "<Period start=\"PT0S\">\(video(template))</Period>",
                    "type=\"dynamic\" availabilityStartTime=\"2026-11-21T09:00:00Z\" minimumUpdatePeriod=\"PT5S\"",
                    before: "<BaseURL \(base)>https://a.test/</BaseURL>"
                )
            )
            let timeline = RenditionTimeline(try show.segments(), live: show.live, now: instant(0))
            return (try #require(timeline.index.segment(containing: 3_600 * second)), timeline)
        }
        func later(_ milliseconds: Int64) -> WallTime { WallTime(milliseconds: now.milliseconds + milliseconds) }
        #expect(try next("").0.availability == later(4_000))
        #expect(try next("availabilityTimeOffset=\"3\"").0.availability == later(1_000))
        let low = try next(
            "availabilityTimeOffset=\"3\" availabilityTimeComplete=\"0\"",
            "availabilityTimeOffset=\"0.5\""
        )
        #expect(low.0.availability == later(500) && low.0.completion == later(4_000))
        // The whole segments of an archive that repeats can be requested at any time; the live edge is the present.
        let always = try next("availabilityTimeOffset=\"INF\"", "availabilityTimeOffset=\"1\"")
        #expect(always.0.availability == nil && always.0.completion == nil)
        #expect(always.1.liveEdge(at: now) == 3_600 * second)
    }

    @Test func aPeriodMayBeginAndEndInsideASegment() throws {
        let template = """
            <SegmentTemplate timescale="1" presentationTimeOffset="302" media="$Time$"><SegmentTimeline>\
            <S t="300" d="6" r="1"/></SegmentTimeline></SegmentTemplate>
            """
        let show = try presentation(
            mpd("<Period start=\"PT10S\" duration=\"PT9S\">\(video(template))</Period>", "type=\"static\"")
        )
        let index = try show.segments()
        #expect(index.map(\.seconds) == [10, 14] && index.map(\.duration) == [4 * second, 5 * second])
        #expect(index.map(\.mediaTime) == [302 * second, 306 * second])
        #expect(index.map(\.mediaStart) == [8 * second, 14 * second])
        #expect(index.map(\.mediaDuration) == [6 * second, 6 * second])
        #expect(index.map(\.mediaOffset) == [-292 * second, -292 * second])
    }

    @Test func aPeriodKeepsItsNumberWhenEarlierPeriodsLeave() throws {
        func text(_ periods: Range<Int>) -> String {
            let template = "<SegmentTemplate duration=\"4\" media=\"$Number$\"/>"
            return mpd(
                periods.map { "<Period start=\"PT\($0 * 100)S\" duration=\"PT100S\">\(video(template))</Period>" }
                    .joined(),
                "type=\"static\""
            )
        }
        let (before, after) = (try presentation(text(0..<2)).segments(), try presentation(text(1..<3)).segments())
        let known = try #require(before.segment(containing: 150 * second)).discontinuity
        #expect(after.segment(containing: 150 * second)?.discontinuity == known)
        #expect(after.segment(containing: 250 * second)?.discontinuity != known)
    }

    @Test func theServersClockCorrectsOurs() throws {
        let timing = "<UTCTiming schemeIdUri=\"urn:mpeg:dash:utc:direct:2014\" value=\"2026-11-21T10:00:08Z\"/>"
        let template = "<SegmentTemplate duration=\"4\" media=\"$Number$\"/>"
        let show = try presentation(
            mpd(
                "<Period start=\"PT0S\">\(video(template))</Period>",
                "type=\"dynamic\" availabilityStartTime=\"2026-11-21T09:00:00Z\" timeShiftBufferDepth=\"PT60S\"",
                before: timing
            )
        )
        let timeline = RenditionTimeline(try show.segments(), live: show.live, now: instant(0))
        #expect(timeline.liveEdge(at: now) == 3_608 * second && timeline.nextReload == nil)
    }

    @Test func alternativeBaseURLsOfEachLevelAreServers() throws {
        let body = """
            <BaseURL dvb:priority="2" serviceLocation="b">https://b.test/root/</BaseURL>
            <BaseURL serviceLocation="a">https://a.test/</BaseURL>
            <Period><AdaptationSet mimeType="video/mp4"><BaseURL>set/</BaseURL><BaseURL>https://c.test/set/</BaseURL>
            <SegmentTemplate timescale="1" duration="10" media="$Number$"/><Representation id="v" bandwidth="1"/>
            </AdaptationSet></Period>
            """
        let show = try presentation(mpd(body))
        #expect(try show.segments().map(\.text) == ["https://a.test/set/1", "https://a.test/set/2"])
        let servers = show.locations.map { $0.locations.map { "\($0.id) \($0.base)" } }
        #expect(
            servers == [
                ["a https://a.test/", "b https://b.test/root/"],
                ["https://a.test/set/ https://a.test/set/", "https://c.test/set/ https://c.test/set/"],
            ]
        )
    }

    @Test func protectionAndWhatIsElsewhereAreReported() throws {
        let template =
            "<ContentProtection schemeIdUri=\"urn:uuid:x\"/><SegmentTemplate duration=\"4\" media=\"$Number$\"/>"
        let show = try presentation(
            mpd(
                "<Period>\(video(template))</Period><Period xlink:href=\"https://x.test\" start=\"PT15S\"></Period>",
                "type=\"static\" mediaPresentationDuration=\"PT20S\" xmlns:xlink=\"http://www.w3.org/1999/xlink\""
            )
        )
        #expect(Set(show.notices.map(\.code)) == [.unsupportedEncryption, .unsupportedFeature])
        #expect(try show.segments().allSatisfy { $0.encryption?.method == .samples("ContentProtection") })
    }

    @Test(arguments: [
        (
            "<!DOCTYPE MPD [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><MPD>&x;</MPD>",
            ManifestError.Code.referenceRefused
        ),
        ("<MPD><Period>", .malformed), ("<nothing/>", .notAManifest), ("<MPD/>", .malformed),
        (
            mpd("<Period>\(video("<SegmentTemplate duration=\"1\" media=\"file:///etc/$Number$\"/>"))</Period>"),
            .referenceRefused
        ),
        (
            mpd(
                "<BaseURL>concat:a|b</BaseURL><Period>\(video("<SegmentTemplate duration=\"1\" media=\"$Number$\"/>"))</Period>"
            ), .referenceRefused
        ),
        (mpd("<Period>\(video("<SegmentTemplate duration=\"1\" media=\"$Number\"/>"))</Period>"), .malformed),
        (
            mpd("<Period>\(video("<SegmentTemplate duration=\"1\" media=\"$Number%0999999999d$\"/>"))</Period>"),
            .malformed
        ),
        (
            mpd("<Period>\(video("<SegmentTemplate duration=\"1\" timescale=\"0\" media=\"$Number$\"/>"))</Period>"),
            .malformed
        ),
        (mpd(String(repeating: "<a>", count: 40) + String(repeating: "</a>", count: 40)), .limitExceeded),
        ("<?xml version=\"1.0\" encoding=\"UTF-7\"?><MPD/>", .unsupported),
    ])
    func whatCannotBePlayedIsAnError(text: String, code: ManifestError.Code) {
        let error = manifestError { _ = try presentation(text) }
        #expect(error?.code == code, "\(text.prefix(120)) gave \(String(describing: error))")
    }

    @Test func anHourlongTemplateCostsNothingAndAnyNumberIsSurvived() throws {
        let most = "9223372036854775807"
        for (duration, scale, number, offset) in [
            ("1", "90000", "1", "0"), (most, "1", most, "5"), ("1", "18446744073709551616", "0", "0"),
            ("1", "1", "1", most),
        ] {
            let template =
                "<SegmentTemplate duration=\"\(duration)\" timescale=\"\(scale)\" startNumber=\"\(number)\" media=\"$Number$\" presentationTimeOffset=\"\(offset)\"/>"
            let index = try presentation(
                mpd("<Period>\(video(template))</Period>", "type=\"static\" mediaPresentationDuration=\"P99999999D\"")
            ).segments()
            #expect(!index.isEmpty || offset == most)
            _ = (index.first, index.last, index.segment(containing: 5 * second), index.segment(after: 3))
        }
    }
}

/// A `sidx` box of version 0 behind a `styp` box.
func sidx(timescale: UInt32, earliest: UInt32, references: [(UInt32, UInt32)]) -> [UInt8] {
    func bytes(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
    var body = bytes(0) + bytes(1) + bytes(timescale) + bytes(earliest) + bytes(0) + [0, 0]
    body += [UInt8(references.count >> 8), UInt8(references.count & 255)]
    for (size, ticks) in references { body += bytes(size) + bytes(ticks) + bytes(0x9000_0000) }
    return bytes(8) + Array("styp".utf8) + bytes(UInt32(body.count + 8)) + Array("sidx".utf8) + body
}
