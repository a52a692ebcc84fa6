import CostMeasurement
import InstrumentHTTP
import InstrumentManifests
import Testing

@testable import InstrumentAds

@Suite("HLS interstitials")
struct InterstitialTests {
    private static let second: Int64 = 1_000_000_000

    /// A playlist of segments of one second, with date ranges; positions are seconds after 10:00:00.
    static func playlist(_ ranges: [String], seconds: Int = 12, hasDates: Bool = true) throws -> HLSMediaPlaylist {
        let date = hasDates ? "#EXT-X-PROGRAM-DATE-TIME:2026-11-22T10:00:00.000Z\n" : ""
        let segments = (0..<seconds).map { "#EXTINF:1,\n\($0).ts\n" }.joined()
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:1\n" + date + ranges.map { $0 + "\n" }.joined() + segments
            + "#EXT-X-ENDLIST\n"
        let url = try HTTPURL("https://media.test/a/main.m3u8")
        guard case .media(let playlist) = try HLSPlaylist(parsing: Array(text.utf8), at: url) else {
            throw CancellationError()
        }
        return playlist
    }

    static func range(
        _ id: String,
        at second: Double,
        _ attributes: String = "",
        source: String = "X-ASSET-URI=\"ad.m3u8\""
    ) -> String {
        let whole = Int(second), thousandths = Int(((second - Double(whole)) * 1000).rounded())
        let time = "10:00:\(whole < 10 ? "0" : "")\(whole).\(String(1000 + thousandths).dropFirst())"
        return "#EXT-X-DATERANGE:ID=\"\(id)\",CLASS=\"com.apple.hls.interstitial\",START-DATE=\"2026-11-22T\(time)Z\","
            + (source.isEmpty ? "" : source + ",") + attributes
    }

    private static func assets(_ seconds: Double...) throws -> InterstitialSchedule.Media {
        .assets(
            try seconds.map { InterstitialAsset(url: try HTTPURL("https://ads.test/a"), duration: Int64($0 * 1e9)) }
        )
    }

    /// The schedule in seconds: what plays from when to when.
    private func text(_ schedule: InterstitialSchedule) -> [String] {
        schedule.items.map { item in
            let times = "\(Double(item.start) / 1e9)-\(Double(item.end) / 1e9)"
            return switch item.content {
            case .primary(let from): "\(times) content \(Double(from) / 1e9)"
            case .interstitial(let id, let asset, _, let from):
                "\(times) \(id)[\(asset)]" + (from > 0 ? " from \(Double(from) / 1e9)" : "")
            }
        }
    }

    @Test("The check value of the specification: a pre-roll of two seconds, and a mid-roll of four at two")
    func checkValue() throws {
        let playlist = try Self.playlist([
            Self.range("pre", at: 0, "CUE=\"PRE\",X-PLAYOUT-LIMIT=2,X-RESUME-OFFSET=0,DURATION=10"),
            Self.range("mid", at: 2, "X-RESUME-OFFSET=0", source: "X-ASSET-LIST=\"list.json\""),
        ])
        let schedule = InterstitialSchedule(playlist, media: ["mid": try Self.assets(4)])
        #expect(text(schedule) == ["0.0-2.0 pre[0]", "2.0-4.0 content 0.0", "4.0-8.0 mid[0]", "8.0-18.0 content 2.0"])
        #expect(schedule.breaks.map(\.resumePosition) == [0, 2 * Self.second])
    }

    @Test("Without a resume offset the content resumes after the actual duration")
    func replacement() throws {
        let playlist = try Self.playlist([Self.range("mid", at: 3, "DURATION=5")])
        #expect(
            text(InterstitialSchedule(playlist)) == ["0.0-3.0 content 0.0", "3.0-8.0 mid[0]", "8.0-12.0 content 8.0"]
        )
        // Assets win over DURATION, and the limit over both.
        let short = InterstitialSchedule(playlist, media: ["mid": try Self.assets(1, 1)])
        #expect(text(short) == ["0.0-3.0 content 0.0", "3.0-4.0 mid[0]", "4.0-5.0 mid[1]", "5.0-12.0 content 5.0"])
        let limited = try Self.playlist([Self.range("mid", at: 3, "DURATION=5,X-PLAYOUT-LIMIT=1.5")])
        #expect(
            text(InterstitialSchedule(limited, media: ["mid": try Self.assets(1, 1, 1)])) == [
                "0.0-3.0 content 0.0", "3.0-4.0 mid[0]", "4.0-4.5 mid[1]", "4.5-12.0 content 4.5",
            ]
        )
        let planned = try Self.playlist([Self.range("mid", at: 3, "PLANNED-DURATION=2")])
        #expect(text(InterstitialSchedule(planned)).last == "5.0-12.0 content 5.0")
    }

    @Test("A negative resume offset repeats content, and the interstitial plays once")
    func negativeOffset() throws {
        let playlist = try Self.playlist([Self.range("mid", at: 4, "DURATION=2,X-RESUME-OFFSET=-1")])
        #expect(
            text(InterstitialSchedule(playlist)) == ["0.0-4.0 content 0.0", "4.0-6.0 mid[0]", "6.0-15.0 content 3.0"]
        )
    }

    @Test("Offsets of interstitials at one position add up, and ties play in the order of the tags")
    func ties() throws {
        let playlist = try Self.playlist([
            Self.range("b", at: 4, "DURATION=2"), Self.range("a", at: 4, "DURATION=1,X-RESUME-OFFSET=3"),
            Self.range("c", at: 1, "DURATION=1"),
        ])
        let schedule = InterstitialSchedule(playlist)
        #expect(
            text(schedule) == [
                "0.0-1.0 content 0.0", "1.0-2.0 c[0]", "2.0-4.0 content 2.0", "4.0-6.0 b[0]", "6.0-7.0 a[0]",
                "7.0-10.0 content 9.0",
            ]
        )
        #expect(schedule.breaks.last?.resumePosition == 9 * Self.second)
    }

    @Test("Pre-rolls play first and post-rolls last, with any dates")
    func preAndPost() throws {
        let playlist = try Self.playlist([
            Self.range("post", at: 1, "CUE=\"POST\",DURATION=3"), Self.range("mid", at: 6, "DURATION=1"),
            Self.range("pre", at: 9, "X-CUE=\"PRE,ONCE\",DURATION=2,X-RESUME-OFFSET=0"),
        ])
        let schedule = InterstitialSchedule(playlist)
        #expect(schedule.played == ["pre", "mid", "post"])
        #expect(text(schedule).first == "0.0-2.0 pre[0]")
        #expect(text(schedule).last == "14.0-17.0 post[0]")
        // ONCE together with a resume offset: the second playback begins with the content, from its start.
        let again = InterstitialSchedule(playlist, played: ["pre"])
        #expect(text(again).first == "0.0-6.0 content 0.0")
        #expect(again.played == ["mid", "post"])
    }

    @Test("A failed asset and an empty list play the content in their place")
    func failures() throws {
        let playlist = try Self.playlist([Self.range("mid", at: 3, "DURATION=5")])
        for media in [InterstitialSchedule.Media.failed, .assets([])] {
            let schedule = InterstitialSchedule(playlist, media: ["mid": media])
            #expect(text(schedule) == ["0.0-12.0 content 0.0"])
            #expect(schedule.breaks.isEmpty)
        }
    }

    @Test("A player that joins in the middle of a replacement plays the rest of it, with the offset")
    func joining() throws {
        let playlist = try Self.playlist([Self.range("mid", at: 3, "DURATION=5")])
        let schedule = InterstitialSchedule(playlist, from: 5 * Self.second)
        #expect(text(schedule) == ["0.0-3.0 mid[0] from 2.0", "3.0-7.0 content 8.0"])
        #expect(schedule.breaks.first?.joinOffset == 2 * Self.second)
        let interstitial = try #require(Interstitials(playlist).all.first)
        let url = try interstitial.request(primaryID: "A B", startOffset: schedule.breaks[0].joinOffset)
        #expect(url.secretText == "https://media.test/a/ad.m3u8?_HLS_primary_id=A%20B&_HLS_start_offset=2.000")
        // An insertion replaces nothing: a player that joins behind it does not play the stale ad.
        let insertion = try Self.playlist([Self.range("mid", at: 3, "DURATION=5,X-RESUME-OFFSET=0")])
        #expect(text(InterstitialSchedule(insertion, from: 5 * Self.second)) == ["0.0-7.0 content 5.0"])
    }

    @Test("A pre-roll that resumes in the middle of a mid-roll plays the mid-roll with the offset")
    func preRollIntoMidRoll() throws {
        let playlist = try Self.playlist([
            Self.range("pre", at: 0, "CUE=\"PRE\",DURATION=4"), Self.range("mid", at: 3, "DURATION=5"),
        ])
        let schedule = InterstitialSchedule(playlist)
        #expect(text(schedule) == ["0.0-4.0 pre[0]", "4.0-8.0 mid[0] from 1.0", "8.0-12.0 content 8.0"])
        #expect(schedule.breaks.last?.joinOffset == Self.second)
    }

    @Test("Snapping moves the transitions to the nearest boundary of a segment")
    func snapping() throws {
        let playlist = try Self.playlist([Self.range("mid", at: 3.4, "DURATION=2.3,X-SNAP=\"OUT,IN\"")])
        let schedule = InterstitialSchedule(playlist)
        #expect(text(schedule) == ["0.0-3.0 content 0.0", "3.0-5.3 mid[0]", "5.3-12.3 content 5.0"])
        let plain = InterstitialSchedule(try Self.playlist([Self.range("mid", at: 3.4, "DURATION=2.5")]))
        #expect(plain.breaks.first?.position == 3_400_000_000)
    }

    @Test(
        "A date range that breaks a rule is no interstitial",
        arguments: [
            (["CUE=\"PRE,POST\""], "X-ASSET-URI=\"a\""), ([""], ""), (["X-ASSET-LIST=\"b\""], "X-ASSET-URI=\"a\""),
            (["DURATION=-1"], "X-ASSET-URI=\"a\""), (["DURATION=x"], "X-ASSET-URI=\"a\""),
            ([""], "X-ASSET-URI=\"file:///etc\""),
            (["X-RESUME-OFFSET=1", "X-RESUME-OFFSET=2"], "X-ASSET-URI=\"a\""),
        ] as [([String], String)]
    )
    func invalid(attributes: [String], source: String) throws {
        let playlist = try Self.playlist(attributes.map { Self.range("x", at: 3, $0, source: source) })
        let found = Interstitials(playlist)
        #expect(found.all.isEmpty)
        #expect(found.findings.count == 1, "\(found.findings)")
    }

    @Test("A playlist without programme dates has no interstitials")
    func withoutDates() throws {
        let found = Interstitials(try Self.playlist([Self.range("x", at: 3)], hasDates: false))
        #expect(found.all.isEmpty && found.findings.count == 1)
    }

    @Test("Tags of one identifier merge, and the attributes have their meaning")
    func attributes() throws {
        let playlist = try Self.playlist([
            Self.range(
                "x",
                at: 3,
                "X-RESTRICT=\"SKIP,JUMP\",X-SNAP=\"IN\",X-TIMELINE-OCCUPIES=\"RANGE\",X-TIMELINE-STYLE=\"HIGHLIGHT\""
            ),
            "#EXT-X-DATERANGE:ID=\"x\",X-CONTENT-MAY-VARY=\"NO\",X-SKIP-CONTROL-OFFSET=5,X-SKIP-CONTROL-LABEL-ID=\"skip\"",
        ])
        let found = try #require(Interstitials(playlist).all.first)
        #expect(Interstitials(playlist).all.count == 1)
        #expect(found.restrictions == [.skip, .jump])
        #expect(found.snap == .in)
        #expect(found.occupiesRange && found.isHighlighted && !found.contentMayVary)
        #expect(found.skipControl == Interstitial.SkipControl(offset: 5 * Self.second, duration: nil, labelID: "skip"))
        #expect(found.source == .asset(try HTTPURL("https://media.test/a/ad.m3u8")))
    }

    @Test("A list of assets resolves its addresses, and is cut to the limit")
    func assetLists() throws {
        let url = try HTTPURL("https://ads.test/lists/1.json?x=1")
        let text =
            #"{"ASSETS":[{"URI":"a.m3u8","DURATION":10},{"URI":"https://b.test/b","DURATION":2.5},{"URI":"c"},{"DURATION":1},{"URI":"ftp://x","DURATION":1},{"URI":"d","DURATION":-1}]}"#
        let list = try AssetList(parsing: Array(text.utf8), at: url)
        #expect(list.assets.map(\.url.secretText) == ["https://ads.test/lists/a.m3u8", "https://b.test/b"])
        #expect(list.assets.map(\.duration) == [10_000_000_000, 2_500_000_000])
        #expect(list.findings.count == 4)
        #expect(try AssetList(parsing: Array(#"{"ASSETS":[]}"#.utf8), at: url).assets.isEmpty)
        for text in ["", "[]", "{}", #"{"ASSETS":{}}"#] {
            #expect(throws: AssetListError.self) { try AssetList(parsing: Array(text.utf8), at: url) }
        }
        let endless =
            "{\"ASSETS\":["
            + String(repeating: "{\"URI\":\"a\",\"DURATION\":1e300},{\"URI\":\"a\",\"DURATION\":9e8},", count: 5_000)
            + "{}]}"
        let cut = try AssetList(parsing: Array(endless.utf8), at: url)
        #expect(cut.assets.count <= AdLimits().assets)
        #expect(!cut.findings.isEmpty)
    }

    @Test("A playlist has at most 2,000 interstitials; the others are errors")
    func crowd() throws {
        let playlist = try Self.playlist((0..<2_100).map { Self.range("\($0)", at: 3, "DURATION=1") })
        let found = Interstitials(playlist)
        #expect(found.all.count == 2_000)
        #expect(found.findings.count == 100 && found.findings.first?.severity == .error)
    }

    @Test("Snapping takes time in proportion to the interstitials, however many segments there are")
    func snappingCost() throws {
        let playlist = try Self.playlist([Self.range("x", at: 3, "DURATION=1,X-SNAP=\"OUT,IN\"")])
        let value = try #require(Interstitials(playlist).all.first)
        let growth = CostGrowth.measure(
            from: 60,
            making: { count in
                let all = (0..<count).map { number in
                    var one = value
                    (one.id, one.start) = ("\(number)", Int64(number) * 1_000)
                    return one
                }
                return (all, (0..<count * 10).map { Int64($0) * 100 })
            },
            { _ = InterstitialSchedule($0.0, contentDuration: .max, boundaries: $0.1) }
        )
        #expect(growth.isLinear, "\(growth)")
    }

    @Test("A schedule ends though assets last without end, and costs time in proportion to the interstitials")
    func cost() throws {
        let playlist = try Self.playlist([Self.range("x", at: 3, "DURATION=9000000000000000000")])
        let schedule = InterstitialSchedule(playlist)
        #expect(schedule.items.count == 2)
        let growth = try CostGrowth.measure(
            from: 60,
            making: { count in
                try (0..<count).map { number -> Interstitial in
                    var value = try #require(Interstitials(playlist).all.first)
                    (value.id, value.start, value.duration) = ("\(number)", Int64(number) * 10, 5)
                    return value
                }
            },
            { _ = InterstitialSchedule($0, contentDuration: .max) }
        )
        #expect(growth.isLinear, "\(growth)")
    }
}
