import Instrument
import InstrumentCheck
import InstrumentHTTP
import InstrumentManifests
import InstrumentRules
import Testing

/// What a player notices, a check reports: each subject of a notice has a stream that shows it.
@Suite("Notices and findings")
struct NoticeTests {
    @Test("A defect that a player notices is a finding of a check", arguments: ManifestNotice.Subject.allCases)
    func sample(subject: ManifestNotice.Subject) throws {
        let sample = NoticeSample(of: subject)
        let noticed = try sample.notices()
        #expect(noticed.contains(subject), "\(noticed)")
        let rules = try sample.findings()
        guard let rule = subject.judgement.rule else {
            #expect(rules.isEmpty, "\(rules)")
            return
        }
        #expect(rules.contains(rule), "\(rules)")
        #expect(Rule.all.contains { $0.id == rule })
    }

    @Test("A warning of a playback is a finding of a check, or no fault of the stream")
    func warnings() {
        let rules = Set(Rule.all.map(\.id))
        for (kind, judgement) in WarningJudgement.all {
            guard case .rule(let rule) = judgement else { continue }
            #expect(rules.contains(rule), "\(kind): \(rule)")
        }
        #expect(WarningJudgement.all.count > 20)
    }

    @Test("A notice says the value that it found, and counts its occurrences")
    func details() throws {
        let dates = "#EXT-X-PROGRAM-DATE-TIME:now\n#EXTINF:6,\na.ts\n#EXT-X-PROGRAM-DATE-TIME:then\n#EXTINF:6,\nb.ts\n"
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(dates)#EXT-X-ENDLIST\n"
        var run = RuleRun()
        run.observe(try fetched(text, 0), as: .root)
        let finding = try #require(run.findings.first)
        #expect(finding.rule == "program-date-time-invalid" && finding.problem.line == 3)
        #expect(finding.problem.found.contains("`now`") && finding.problem.found.contains("2 times"))
    }

    @Test("A finding never names one number as found and as expected")
    func numbers() {
        let (found, expected) = Int64(9_000_000_100).shownSeconds(besides: 9_000_000_000)
        #expect(found == "9.000000100 s" && expected == "9.000000000 s")
        #expect(Int64(6_006_000_000).shownSeconds(besides: 6_000_000_000) == ("6.006 s", "6 s"))
    }
}

/// A stream that shows a notice.
private enum NoticeSample {
    /// The versions of a media playlist or of a multivariant playlist.
    case playlists([String])
    /// The media playlists of two renditions.
    case renditions(String, String)
    case manifest(String)
    case redirected(String)

    init(of subject: ManifestNotice.Subject) {
        switch subject {
        case .byteOrderMark: self = .playlists(["\u{FEFF}" + Self.media()])
        case .invalidUTF8: self = .playlists([Self.media("# name\n#EXT-X-NOTE:\u{1}\n")])
        case .controlCharacter: self = .playlists([Self.media("#EXT-X-NOTE:\u{2}\n")])
        case .paddedTag: self = .playlists([Self.media(" #EXT-X-PLAYLIST-TYPE:EVENT\n")])
        case .miswrittenTag: self = .playlists([Self.media("#ext-x-playlist-type:EVENT\n")])
        case .misspelledTag: self = .playlists([Self.media("#EXT-X-PLAYLIST-TPYE:EVENT\n")])
        case .codecWithoutProfile:
            self = .playlists([Self.master("#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"avc1\"\nv.m3u8\n")])
        case .unknownCodec:
            self = .playlists([Self.master("#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"avc9.1\"\nv.m3u8\n")])
        case .referenceRefused:
            self = .playlists([Self.master("#EXT-X-STREAM-INF:BANDWIDTH=1\nftp://a.example/v.m3u8\n\(Self.variant)")])
        case .redirectedToHTTP: self = .redirected(Self.media())
        case .addressWithoutDuration: self = .playlists([Self.media("extra.ts\n")])
        case .negativeDuration: self = .playlists([Self.media("#EXTINF:-1,\nextra.ts\n")])
        case .invalidDate: self = .playlists([Self.media("#EXT-X-PROGRAM-DATE-TIME:noon\n")])
        case .lateSequenceNumber: self = .playlists([Self.media("", after: "#EXT-X-MEDIA-SEQUENCE:4\n")])
        case .unknownPlaylistType: self = .playlists([Self.media("#EXT-X-PLAYLIST-TYPE:vod\n")])
        case .incompleteDateRange: self = .playlists([Self.media("#EXT-X-DATERANGE:ID=\"a\"\n")])
        case .unreadableDateRange:
            self = .playlists([Self.media("#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"noon\"\n")])
        case .contradictoryDateRange:
            let range = "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2026-01-01T00:00:00Z\",CLASS="
            self = .playlists([
                Self.media("#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n\(range)\"x\"\n\(range)\"y\"\n")
            ])
        case .rangeWithoutStart: self = .playlists([Self.media("#EXT-X-VERSION:4\n#EXT-X-BYTERANGE:10\n")])
        case .mapWithoutVector:
            self = .playlists([
                Self.media("#EXT-X-VERSION:6\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n#EXT-X-MAP:URI=\"i.mp4\"\n")
            ])
        case .missingTargetDuration:
            self = .playlists(["#EXTM3U\n#EXTINF:6,\na.ts\n#EXT-X-ENDLIST\n"])
        case .fractionalTargetDuration:
            self = .playlists(["#EXTM3U\n#EXT-X-TARGETDURATION:6.4\n#EXTINF:6,\na.ts\n#EXT-X-ENDLIST\n"])
        case .exceededTargetDuration: self = .playlists([Self.media("#EXTINF:7,\nlong.ts\n")])
        case .missingEndList:
            self = .playlists(["#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:6,\na.ts\n"])
        case .encryptedSamples:
            self = .playlists([Self.media("#EXT-X-VERSION:5\n#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\"\n")])
        case .unsupportedEncryption:
            self = .playlists([
                Self.media("#EXT-X-VERSION:5\n#EXT-X-KEY:METHOD=AES-128,URI=\"skd://k\",KEYFORMAT=\"com.example\"\n")
            ])
        case .incompletePartInformation: self = .playlists([Self.media("#EXT-X-PART-INF:PART-TARGET=0\n")])
        case .incompletePart: self = .playlists([Self.parts("#EXT-X-PART:DURATION=1\n")])
        case .repeatedHint:
            let hint = "#EXT-X-PRELOAD-HINT:TYPE=PART,URI="
            self = .playlists([Self.parts("\(hint)\"p.ts\"\n\(hint)\"q.ts\"\n")])
        case .invalidHint: self = .playlists([Self.parts("#EXT-X-PRELOAD-HINT:TYPE=PART\n")])
        case .unsupportedSessionEncryption:
            let key = "#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI=\"skd://k\",KEYFORMAT=\"com.example\"\n"
            self = .playlists([Self.master("#EXT-X-VERSION:5\n\(key)\(Self.variant)")])
        case .steeringWithoutServer:
            self = .playlists([Self.master("#EXT-X-CONTENT-STEERING:PATHWAY-ID=\"a\"\n\(Self.variant)")])
        case .streamWithoutAddress:
            self = .playlists([Self.master("#EXT-X-STREAM-INF:BANDWIDTH=2\n\(Self.variant)")])
        case .addressWithoutStream: self = .playlists([Self.master("extra.m3u8\n\(Self.variant)")])
        case .missingBandwidth:
            self = .playlists([Self.master("#EXT-X-STREAM-INF:RESOLUTION=160x90\nv.m3u8\n")])
        case .incompleteMedia:
            self = .playlists([Self.master("#EXT-X-MEDIA:TYPE=AUDIO,NAME=\"a\"\n\(Self.variant)")])
        case .alternativeVideo:
            let media = "#EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID=\"g\",NAME=\"a\"\n"
            self = .playlists([Self.master("\(media)#EXT-X-STREAM-INF:BANDWIDTH=1,VIDEO=\"g\"\nv.m3u8\n")])
        case .remoteElement:
            self = .manifest(Self.periods(Self.period(), "<Period start=\"PT6S\" xlink:href=\"p.xml\"/>"))
        case .remoteElementLimit:
            let periods = (0..<65).map { "<Period duration=\"PT6S\" xlink:href=\"p\($0).xml\"/>" }
            self = .manifest(Self.periods(Self.period(), periods.joined()))
        case .periodWithoutStart:
            self = .manifest(Self.periods(Self.period("start=\"PT0S\""), Self.period("id=\"late\"")))
        case .misplacedPeriod:
            self = .manifest(Self.periods(Self.period("start=\"PT6S\""), Self.period("start=\"PT2S\"")))
        case .unsupportedClock:
            let clock = "<UTCTiming schemeIdUri=\"urn:mpeg:dash:utc:ntp:2014\" value=\"time.example\"/>"
            self = .manifest(Self.dynamicDocument(Self.period("start=\"PT0S\"") + clock))
        case .unknownEssentialProperty:
            let property = "<EssentialProperty schemeIdUri=\"urn:example:x\" value=\"1\"/>"
            self = .manifest(
                Self.periods(Self.period(sets: "<AdaptationSet mimeType=\"video/mp4\">\(property)</AdaptationSet>"))
            )
        case .malformedRepresentation:
            self = .manifest(Self.periods(Self.period(sets: Self.set(Self.template("$Nmber$")))))
        case .unsupportedRepresentation:
            self = .manifest(Self.periods(Self.period(sets: Self.set(Self.template("$SubNumber$")))))
        case .refusedRepresentation:
            self = .manifest(Self.periods(Self.period(sets: Self.set("<BaseURL>ftp://a.example/</BaseURL>"))))
        case .entryWithoutDuration:
            self = .manifest(
                Self.periods(Self.period(sets: Self.set(Self.timeline("<S t=\"0\" d=\"6\"/><S r=\"1\"/>"))))
            )
        case .misplacedEntry:
            self = .manifest(
                Self.periods(Self.period(sets: Self.set(Self.timeline("<S t=\"4\" d=\"2\"/><S t=\"1\" d=\"2\"/>"))))
            )
        case .missingTrack: self = .manifest(Self.twoPeriods(besides: "audio/mp4", codecs: "mp4a.40.2"))
        case .missingSubtitles: self = .manifest(Self.twoPeriods(besides: "text/vtt", codecs: "wvtt"))
        case .earlierSegments:
            let event = "#EXT-X-PLAYLIST-TYPE:EVENT\n"
            self = .playlists([Self.window(5, event), Self.window(3, event, count: 6)])
        case .missedSegments: self = .playlists([Self.window(5), Self.window(500)])
        case .restartedNumbers:
            self = .playlists([Self.window(50)] + (0..<5).map { Self.window($0 + 1) })
        case .contradictoryDates:
            self = .renditions(
                Self.window(5, date: "2026-01-01T00:00:00Z"),
                Self.window(5, date: "2031-01-01T00:00:00Z")
            )
        }
    }
}

// MARK: Both sides
extension NoticeSample {
    private static let address = "http://example.org/"

    /// What a player notices.
    func notices() throws -> [ManifestNotice.Subject] {
        switch self {
        case .redirected(let text):
            let presentation = try Presentation(
                parsing: Array(text.utf8),
                at: HTTPURL("http://example.org/v.m3u8"),
                requestedAs: HTTPURL("https://example.org/v.m3u8"),
                now: WallTime(milliseconds: 0)
            )
            return presentation.notices.map(\.subject)
        case .manifest(let text):
            let url = try HTTPURL("http://example.org/v.mpd")
            let now = WallTime(milliseconds: 1_767_225_600_000)
            return try Presentation(parsing: Array(text.utf8), at: url, now: now).notices.map(\.subject)
        case .renditions(let first, let second):
            var axis = TimelineAxis()
            let now = MonotonicInstant(nanoseconds: 0)
            _ = RenditionTimeline(try Self.media(first), on: &axis, now: now)
            return RenditionTimeline(try Self.media(second), on: &axis, now: now).notices.map(\.subject)
        case .playlists(let texts):
            guard case .media(let first) = try Self.playlist(texts[0]) else {
                return try Presentation(
                    parsing: Self.bytes(texts[0]),
                    at: HTTPURL("http://example.org/v.m3u8"),
                    now: WallTime(milliseconds: 0)
                ).notices.map(\.subject)
            }
            var axis = TimelineAxis()
            var timeline = RenditionTimeline(first, on: &axis, now: MonotonicInstant(nanoseconds: 0))
            for (place, text) in texts.enumerated().dropFirst() {
                let now = MonotonicInstant(nanoseconds: Int64(place) * 6_000_000_000)
                timeline.update(with: try Self.media(text), on: &axis, now: now)
            }
            return timeline.notices.map(\.subject)
        }
    }

    /// The rules that a check finds broken.
    func findings() throws -> [Rule.ID] {
        var run = RuleRun()
        switch self {
        case .redirected(let text):
            var fetchedText = try fetched(text, 0)
            fetchedText.requestedURL = try HTTPURL("https://example.org/live.m3u8")
            run.observe(fetchedText, as: .root)
        case .manifest(let text): run.observe(try fetched(text, 0, "v.mpd"), as: .root)
        case .renditions(let first, let second):
            return try broken(variants: ["a": [first], "b": [second]]).map { Rule.ID($0) }
        case .playlists(let texts):
            for (place, text) in texts.enumerated() {
                var version = try fetched(text, place * 6)
                version.bytes = Self.bytes(text)
                run.observe(version, as: .root)
            }
        }
        return run.findings.map(\.rule)
    }

    /// The bytes of a text; a character that no playlist has becomes a byte that is not UTF-8.
    private static func bytes(_ text: String) -> [UInt8] { text.utf8.map { $0 == 1 ? 0xFF : $0 } }

    private static func playlist(_ text: String) throws -> HLSPlaylist {
        try HLSPlaylist(parsing: bytes(text), at: HTTPURL(address + "v.m3u8"))
    }

    private static func media(_ text: String) throws -> HLSMediaPlaylist {
        guard case .media(let playlist) = try playlist(text) else {
            throw ManifestError(.malformed, "a media playlist was expected")
        }
        return playlist
    }
}

// MARK: Texts
extension NoticeSample {
    private static let variant = "#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n"

    private static func master(_ lines: String) -> String { "#EXTM3U\n\(lines)" }

    private static func media(_ lines: String = "", after: String = "") -> String {
        "#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(lines)#EXTINF:6,\na.ts\n\(after)#EXT-X-ENDLIST\n"
    }

    private static func parts(_ lines: String) -> String {
        let head = "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=3\n#EXT-X-PART-INF:PART-TARGET=1\n"
        return "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-TARGETDURATION:6\n\(head)#EXTINF:6,\na.ts\n\(lines)"
    }

    private static func window(_ first: Int, _ head: String = "", count: Int = 4, date: String? = nil) -> String {
        let dated = date.map { "#EXT-X-PROGRAM-DATE-TIME:\($0)\n" } ?? ""
        return live(first, count: count, head: head + dated)
    }

    private static func template(_ name: String) -> String {
        "<SegmentTemplate timescale=\"1\" duration=\"2\" media=\"\(name).m4s\" initialization=\"i.mp4\"/>"
    }

    private static func timeline(_ entries: String) -> String {
        "<SegmentTemplate timescale=\"1\" media=\"$Time$.m4s\" initialization=\"i.mp4\"><SegmentTimeline>\(entries)"
            + "</SegmentTimeline></SegmentTemplate>"
    }

    private static func representation(_ id: String, _ content: String) -> String {
        "<Representation id=\"\(id)\" bandwidth=\"1000\" codecs=\"avc1.42c00b\">\(content)</Representation>"
    }

    /// A set with a representation that can be played, and one with other content.
    private static func set(_ content: String) -> String {
        "<AdaptationSet mimeType=\"video/mp4\">" + representation("a", template("$Number$"))
            + representation("b", content) + "</AdaptationSet>"
    }

    private static func period(_ attributes: String = "start=\"PT0S\"", sets: String = "") -> String {
        let good = representation("v", template("$Number$"))
        return "<Period \(attributes)><AdaptationSet mimeType=\"video/mp4\">\(good)</AdaptationSet>\(sets)</Period>"
    }

    private static func twoPeriods(besides type: String, codecs: String) -> String {
        let content = template("$Number$")
        let set =
            "<AdaptationSet mimeType=\"\(type)\" contentType=\"\(type.hasPrefix("text") ? "text" : "audio")\">"
            + "<Representation id=\"x\" bandwidth=\"1000\" codecs=\"\(codecs)\">\(content)</Representation></AdaptationSet>"
        return periods(
            period("start=\"PT0S\" duration=\"PT6S\"", sets: set),
            period("start=\"PT6S\" duration=\"PT6S\"")
        )
    }

    private static func periods(_ periods: String...) -> String { document("type=\"static\"", periods.joined()) }

    private static func dynamicDocument(_ content: String) -> String {
        let start = "availabilityStartTime=\"2026-01-01T00:00:00Z\" publishTime=\"2026-01-01T00:00:00Z\""
        return document("type=\"dynamic\" \(start)", content)
    }

    private static func document(_ attributes: String, _ content: String) -> String {
        "<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" minBufferTime=\"PT2S\" "
            + "profiles=\"urn:mpeg:dash:profile:isoff-live:2011\" mediaPresentationDuration=\"PT12S\" \(attributes)>"
            + content + "</MPD>"
    }
}
