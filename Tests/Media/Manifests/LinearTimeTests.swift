internal import CostMeasurement
internal import InstrumentHTTP
internal import TestTraits
import Testing

@testable internal import InstrumentManifests

/// Parsing a manifest with very many equal parts of any kind costs time in proportion to its size. Limits are lifted,
/// so that each shape is read to its end.
@Suite("Cost of manifests")
struct LinearTimeTests {
    private static var lifted: ManifestLimits {
        var limits = ManifestLimits()
        (limits.bytes, limits.lineBytes, limits.addressBytes) = (.max, .max, .max)
        (limits.segments, limits.variants, limits.representations) = (.max / 4, .max, .max)
        (limits.elements, limits.periods, limits.attributes, limits.listedSegments) = (.max, .max, .max, .max)
        limits.depth = 10_000
        return limits
    }

    private static func read(_ text: [UInt8], _ limits: ManifestLimits = lifted) throws {
        do {
            _ = try Presentation(parsing: text, at: HTTPURL("https://media.test/a/main"), now: now, limits: limits)
        } catch is ManifestError {
            // A refusal counts as well, if it comes in time.
        }
    }

    @Test("Reading an MPD costs time in proportion to its size", arguments: Self.mpds)
    func mpdCost(shape: CostShape) throws {
        let growth = try CostGrowth.measure(
            from: shape.size,
            making: { Array(shape.text($0).utf8) },
            { try Self.read($0) }
        )
        #expect(growth.isLinear, "\(growth)")
    }

    @Test("Applying a patch costs time in proportion to the number of its operations", arguments: patches)
    func patchCost(shape: CostShape) throws {
        let rows = (0..<500).map { "<S t=\"\($0)\" d=\"1\"/>" }.joined()
        let template = "<SegmentTemplate media=\"$Time$\"><SegmentTimeline>\(rows)</SegmentTimeline></SegmentTemplate>"
        var text = Self.live(template + "<Representation id=\"a\" bandwidth=\"1\"/>")
        text = text.replacing("<MPD ", with: "<MPD id=\"a\" publishTime=\"2026-11-21T09:00:00Z\" ")
        text = text.replacing("<Period", with: "<PatchLocation>a</PatchLocation><Period")
        var limits = Self.lifted
        (limits.patchOperations, limits.patchSteps) = (.max, .max)
        let show = try Presentation(
            parsing: Array(text.utf8),
            at: HTTPURL("https://media.test/a"),
            now: now,
            limits: limits
        )
        let times = "originalPublishTime=\"2026-11-21T09:00:00Z\" publishTime=\"2026-11-21T09:00:00Z\""
        let growth = CostGrowth.measure(
            from: shape.size,
            making: { Array("<Patch mpdId=\"a\" \(times)>\(shape.text($0))</Patch>".utf8) },
            { _ = try? show.patched(by: $0, at: HTTPURL("https://media.test/p"), now: now) }
        )
        #expect(growth.isLinear, "\(growth)")
    }

    private static let patches: [CostShape] = {
        let timeline = "/MPD/Period/AdaptationSet/SegmentTemplate/SegmentTimeline"
        return [
            CostShape(name: "attributes", size: 100) {
                copies($0) { "<replace sel=\"\(timeline)/S[500]/@d\">\($0)</replace>" }
            },
            CostShape(name: "elements", size: 100) {
                copies($0) { _ in "<remove sel=\"\(timeline)/S[1]\"/>" + Self.added(timeline) }
            },
            CostShape(name: "one addition", size: 4_000) { count in
                "<add sel=\"\(timeline)\">" + copies(count) { _ in "<S d=\"1\"/>" } + "</add>"
            },
            CostShape(name: "long selector", size: 4_000) {
                "<remove sel=\"/MPD" + copies($0) { _ in "/a[@b='c']" } + "\"/>"
            },
        ]
    }()

    private static func added(_ timeline: String) -> String { "<add sel=\"\(timeline)\"><S d=\"1\"/></add>" }

    @Test("Reading a playlist costs time in proportion to its size", arguments: Self.playlists)
    func playlistCost(shape: CostShape) throws {
        let growth = try CostGrowth.measure(
            from: shape.size,
            making: { Array(("#EXTM3U\n" + shape.text($0)).utf8) },
            { try Self.read($0) }
        )
        #expect(growth.isLinear, "\(growth)")
    }
}

// MARK: MPDs
extension LinearTimeTests {
    private static func copies(_ count: Int, _ text: (Int) -> String) -> String { (0..<count).map(text).joined() }

    private static func video(_ inside: String) -> String {
        mpd("<Period duration=\"PT99S\"><AdaptationSet mimeType=\"video/mp4\">\(inside)</AdaptationSet></Period>")
    }

    private static func live(_ inside: String) -> String {
        mpd(
            "<Period start=\"PT0S\"><AdaptationSet mimeType=\"video/mp4\">\(inside)</AdaptationSet></Period>",
            "type=\"dynamic\" availabilityStartTime=\"2026-11-21T09:00:00Z\" minimumUpdatePeriod=\"PT2S\""
        )
    }

    private static let template = "<SegmentTemplate duration=\"2\" media=\"$RepresentationID$/$Number$\"/>"
    private static func representation(_ id: Int, _ more: String = "") -> String {
        "<Representation id=\"\(id)\" bandwidth=\"\(id + 1)\" \(more)/>"
    }

    static let mpds: [CostShape] = [
        CostShape(name: "representations of a set") { n in video(template + copies(n) { representation($0) }) },
        CostShape(name: "representations with two servers each") { n in
            video(
                template
                    + copies(n) {
                        "<Representation id=\"\($0)\" bandwidth=\"1\"><BaseURL>a\($0)/</BaseURL>"
                            + "<BaseURL>b\($0)/</BaseURL></Representation>"
                    }
            )
        },
        CostShape(name: "representations with the same id") { n in
            video(template + copies(n) { _ in representation(1) })
        },
        CostShape(name: "representations before the template of their set") { n in
            video(copies(n) { representation($0) } + template)
        },
        CostShape(name: "sets of a representation") { n in
            mpd(
                "<Period duration=\"PT9S\">"
                    + copies(n) {
                        "<AdaptationSet id=\"\($0)\" lang=\"en\" mimeType=\"audio/mp4\">\(template)\(representation($0))</AdaptationSet>"
                    } + "</Period>"
            )
        },
        CostShape(name: "periods") { n in
            mpd(
                copies(n) {
                    "<Period duration=\"PT9S\"><AdaptationSet mimeType=\"video/mp4\">\(template)\(representation($0))</AdaptationSet></Period>"
                }
            )
        },
        CostShape(name: "periods of as many representations", size: 100) { n in
            let side = Int(Double(n).squareRoot())
            return mpd(
                copies(side) { period in
                    "<Period duration=\"PT9S\"><AdaptationSet mimeType=\"video/mp4\">\(template)"
                        + copies(side) { representation(period * side + $0) } + "</AdaptationSet></Period>"
                }
            )
        },
        CostShape(name: "attributes of an element", size: 500) { n in
            video("<Representation id=\"1\" " + copies(n) { "a\($0)=\"\" " } + "/>")
        },
        CostShape(name: "an attribute that all representations inherit") { n in
            let codecs = copies(n * 20) { _ in "avc1," }
            return mpd(
                "<Period duration=\"PT9S\"><AdaptationSet mimeType=\"video/mp4\" codecs=\"\(codecs)\" frameRate=\"\(codecs)\">"
                    + template + copies(n) { representation($0) } + "</AdaptationSet></Period>"
            )
        },
        CostShape(name: "a timeline that all representations inherit") { n in
            video(
                "<SegmentTemplate media=\"$Number$\"><SegmentTimeline>" + copies(n) { _ in "<S d=\"1\"/>" }
                    + "</SegmentTimeline></SegmentTemplate>" + copies(n) { representation($0) }
            )
        },
        CostShape(name: "entries of a timeline", size: 250) { n in
            video(
                "<SegmentTemplate media=\"$Time$\"><SegmentTimeline>" + copies(n) { "<S t=\"\($0 * 3)\" d=\"2\"/>" }
                    + "</SegmentTimeline></SegmentTemplate>" + representation(1)
            )
        },
        CostShape(name: "entries of a timeline that repeat themselves very often", size: 250) { n in
            live(
                "<SegmentTemplate media=\"$Time$\"><SegmentTimeline>"
                    + copies(n) { "<S t=\"\($0)\" d=\"1\" r=\"4000000000\"/><S d=\"1\" r=\"-1\"/>" }
                    + "</SegmentTimeline></SegmentTemplate>" + representation(1)
            )
        },
        CostShape(name: "listed segments", size: 120) { n in
            video(
                "<SegmentList duration=\"1\">" + copies(n) { "<SegmentURL media=\"\($0)\"/>" } + "</SegmentList>"
                    + representation(1)
            )
        },
        CostShape(name: "properties, roles and labels of a set", size: 250) { n in
            video(
                copies(n) { "<SupplementalProperty/><Role value=\"\($0)\"/><Label>x</Label>" } + template
                    + copies(20) { representation($0) }
            )
        },
        CostShape(name: "identifiers in a template", size: 250) { n in
            video("<SegmentTemplate duration=\"2\" media=\"\(copies(n) { _ in "$Number$" })\"/>" + representation(1))
        },
        CostShape(name: "dots in a base address", size: 500) { n in
            video("<BaseURL>" + copies(n) { _ in "a/../../" } + "</BaseURL>" + template + representation(1))
        },
        CostShape(name: "text, references and comments", size: 500) { n in
            video(
                "<Label>" + copies(n) { _ in "x&amp;<!-- - --><![CDATA[]]]>" } + "</Label>" + template
                    + representation(1)
            )
        },
        CostShape(name: "elements inside one another", size: 120) { n in
            video(copies(n) { _ in "<a>" } + copies(n) { _ in "</a>" } + template + representation(1))
        },
        CostShape(name: "combining marks", size: 250) { n in
            let marks = copies(n) { _ in "\u{301}\u{316}" }
            return video("\(template)<Representation id=\"a\(marks)\" bandwidth=\"1\" é\(marks)=\"\"/>")
        },
        CostShape(name: "lines", size: 1_200) { n in video(copies(n) { _ in "\n" } + template + representation(1)) },
        CostShape(name: "end tags that are missing", size: 800) { n in copies(n) { _ in "<a" } },
        CostShape(name: "comments that are not closed", size: 800) { n in video(copies(n) { _ in "<!-- <!" }) },
    ]
}

// MARK: Playlists
extension LinearTimeTests {
    private static func segments(_ count: Int, _ before: @Sendable (Int) -> String = { _ in "" }) -> String {
        "#EXT-X-TARGETDURATION:6\n" + copies(count) { "\(before($0))#EXTINF:6,\nsegment\($0).ts\n" }
    }

    static let playlists: [CostShape] = [
        CostShape(name: "segments") { n in segments(n) },
        CostShape(name: "segments with dates") { n in
            segments(n) { "#EXT-X-PROGRAM-DATE-TIME:\(date(Int64($0) * 6_000))\n" }
        },
        CostShape(name: "segments of which the last has a date") { n in
            segments(n) { $0 == n - 1 ? "#EXT-X-PROGRAM-DATE-TIME:\(date(0))\n" : "" }
        },
        CostShape(name: "segments with keys") { n in
            segments(n) { "#EXT-X-KEY:METHOD=AES-128,URI=\"k\($0)\",KEYFORMAT=\"identity\"\n" }
        },
        CostShape(name: "keys of many formats") { n in
            copies(n) { "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\",KEYFORMAT=\"f\($0)\"\n" } + segments(1)
        },
        CostShape(name: "segments with maps and byte ranges") { n in
            segments(n) { "#EXT-X-MAP:URI=\"m\($0)\",BYTERANGE=\"9@\($0)\"\n#EXT-X-BYTERANGE:9\n" }
        },
        CostShape(name: "date ranges") { n in
            copies(n) { "#EXT-X-DATERANGE:ID=\"\($0)\",START-DATE=\"\(date(0))\",DURATION=5,X-A=\"b\"\n" } + segments(1)
        },
        CostShape(name: "discontinuities and unknown tags") { n in
            copies(n) { "#EXT-X-DISCONTINUITY\n#EXT-X-NEW:\($0)\n#EXT-X-PART:\($0)\n# comment\n\n" } + segments(1)
        },
        CostShape(name: "attributes of a tag") { n in
            "#EXT-X-DATERANGE:" + copies(n) { "X-A\($0)=\"b\"," } + "ID=\"1\"\n" + segments(1)
        },
        CostShape(name: "an attribute without an end", size: 800) { n in
            "#EXT-X-DATERANGE:" + copies(n) { _ in "A=\"" } + "\n" + segments(1)
        },
        CostShape(name: "a long line", size: 500) { n in
            segments(1) + "#EXTINF:6,\n" + copies(n) { _ in "../a/" } + "\n"
        },
        CostShape(name: "spaces around a line", size: 1_200) { n in
            segments(1) + copies(n) { _ in " " } + "#EXTINF:6" + copies(n) { _ in " " } + "\na\n"
        },
        CostShape(name: "flags around a value", size: 120) { n in
            let flags = copies(n) { _ in "\u{1F1E6}" }
            return "#EXT-X-DATERANGE: \(flags) = \(flags) ,ID=\"\(flags)\"\n" + segments(1)
        },
        CostShape(name: "combining marks", size: 250) { n in
            let marks = "a" + copies(n) { _ in "\u{301}\u{316}" }
            return "#EXT-X-DEFINE:NAME=\"\(marks)\",VALUE=\"\"\n#EXT-X-DATERANGE:\(marks)=\"\(marks)\"\n" + segments(1)
        },
        CostShape(name: "variables") { n in
            copies(n) { "#EXT-X-DEFINE:NAME=\"v\($0)\",VALUE=\"x\"\n" }
                + segments(n) { "#EXT-X-MAP:URI=\"{$v\($0)}\"\n" }
        },
        CostShape(name: "variables in a line", size: 250) { n in
            "#EXT-X-DEFINE:NAME=\"v\",VALUE=\"x\"\n" + segments(1) + "#EXTINF:1,\n" + copies(n) { _ in "{$v}{" } + "\n"
        },
        CostShape(name: "variables that are not closed", size: 500) { n in
            segments(1) + "#EXTINF:1,\n" + copies(n) { _ in "{$" } + "\n"
        },
        CostShape(name: "variants") { n in copies(n) { "#EXT-X-STREAM-INF:BANDWIDTH=\($0)\nv\($0)\n" } },
        CostShape(name: "redundant variants") { n in copies(n) { "#EXT-X-STREAM-INF:BANDWIDTH=1\nv\($0)\n" } },
        CostShape(name: "redundant variants with other audio") { n in
            copies(n) {
                "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"\($0)\",URI=\"a\($0)\"\n"
                    + "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"b\",NAME=\"\($0)\",URI=\"b\($0)\"\n"
                    + "#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"\($0 == 0 ? "a" : "b")\"\nv\($0)\n"
            }
        },
        CostShape(name: "steered variants of one group") { n in
            "#EXT-X-CONTENT-STEERING:SERVER-URI=\"s\"\n"
                + copies(n) {
                    "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"\($0)\",URI=\"a\($0)\"\n"
                        + "#EXT-X-STREAM-INF:BANDWIDTH=\($0),AUDIO=\"a\"\nv\($0)\n"
                }
        },
        CostShape(name: "renditions for as many variants") { n in
            copies(n) {
                "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"n\",LANGUAGE=\"en\",URI=\"a\($0)\"\n"
                    + "#EXT-X-STREAM-INF:BANDWIDTH=\($0),AUDIO=\"a\"\nv\($0)\n"
            }
        },
        CostShape(name: "groups of renditions") { n in
            copies(n) {
                "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\($0)\",NAME=\"n\"\n"
                    + "#EXT-X-STREAM-INF:BANDWIDTH=\($0),AUDIO=\"a\($0)\"\nv\($0)\n"
            }
        },
    ]
}

// MARK: After parsing
extension LinearTimeTests {
    @Test(
        "Merging a reload costs time in proportion to the window",
        arguments: ["same", "renamed", "moved on", "restarted"]
    )
    func merging(what: String) throws {
        let growth = try CostGrowth.measure(from: 80) { count -> (HLSMediaPlaylist, HLSMediaPlaylist) in
            let count = Int64(count)
            let old = try mediaPlaylist(window(1_000_000...(1_000_000 + count)))
            let first: Int64 = what == "restarted" ? 0 : what == "moved on" ? 2_000_000 : 1_000_001
            let new = window(first...(first + count)) { what == "same" ? "s\($0).ts" : "t\($0).ts" }
            return (old, try mediaPlaylist(new))
        } _: { old, new in
            var axis = TimelineAxis()
            var timeline = RenditionTimeline(old, on: &axis, now: instant(0))
            for second in 1..<4 { timeline.update(with: new, on: &axis, now: instant(Double(second))) }
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test("Finding segments of a timeline with many entries costs no search through them")
    func looking() throws {
        let growth = try CostGrowth.measure(from: 250) { count in
            try presentation(
                Self.mpds.first { $0.name == "entries of a timeline" }?.text(count) ?? "",
                limits: Self.lifted
            )
            .segments()
        } _: { index in
            for position in stride(from: 0, to: index.count, by: 4) {
                _ = index.segment(containing: index[position].start)
            }
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test("Reading an index box costs time in proportion to its size", arguments: ["boxes", "references"])
    func indexBox(what: String) throws {
        let file = IndexedSegments(
            url: try address(),
            indexRange: ByteRange(offset: 0, length: nil),
            initialization: nil,
            frame: IndexFrame()
        )
        let growth = CostGrowth.measure(from: 500) { count -> [UInt8] in
            let box: [UInt8] = [0, 0, 0, 8, 0x66, 0x72, 0x65, 0x65]
            if what == "boxes" {
                return Array(repeatElement(box, count: count).joined())
                    + sidx(timescale: 1, earliest: 0, references: [(1, 1)])
            }
            return sidx(timescale: 1, earliest: 0, references: Array(repeating: (1, 1), count: count))
        } _: { bytes in
            _ = try? file.segments(from: bytes)
        }
        #expect(growth.isLinear, "\(growth)")
    }
}

// MARK: Limits
extension LinearTimeTests {
    static let amplifiers: [CostShape] = [
        CostShape(name: "a long id, many times in an address", size: 3_000) { n in
            let media = copies(n) { _ in "$RepresentationID$" }
            let id = copies(7 * n) { _ in "x" }
            return video("<SegmentTemplate duration=\"2\" media=\"\(media)\"/><Representation id=\"\(id)\"/>")
        },
        CostShape(name: "a list of segments that many representations inherit", size: 2_000) { n in
            video(
                "<SegmentList duration=\"1\">" + copies(n) { _ in "<SegmentURL/>" } + "</SegmentList>"
                    + copies(n) { representation($0) }
            ).replacing("PT99S", with: "PT9999S")
        },
        CostShape(name: "a timeline that many representations read again", size: 2_000) { n in
            video(
                "<SegmentTemplate><SegmentTimeline>" + copies(n) { _ in "<S/>" }
                    + "</SegmentTimeline></SegmentTemplate>"
                    + copies(n) { "<Representation id=\"\($0)\"><SegmentTemplate media=\"a\"/></Representation>" }
            )
        },
        CostShape(name: "few listed segments, each of which stands for many", size: 2_000) { n in
            video(
                "<SegmentList timescale=\"1000000\"><SegmentTimeline>"
                    + copies(n) { _ in "<S n=\"1\" d=\"1\" r=\"\(n - 1)\"/>" } + "</SegmentTimeline>"
                    + copies(n) { _ in "<SegmentURL/>" } + "</SegmentList>" + representation(1)
            )
        },
        CostShape(name: "attributes of an element", size: 1_001) { n in
            video("<Representation " + copies(n) { "a\($0)=\"\" " } + "/>")
        },
        CostShape(name: "a long variable, many times", size: 1_500) { n in
            "#EXTM3U\n#EXT-X-DEFINE:NAME=\"v\",VALUE=\"\(copies(60_000) { _ in "x" })\"\n"
                + copies(n) { _ in "#EXT-X-DATERANGE:ID=\"{$v}\",START-DATE=\"2026-11-21T10:00:00Z\"\n" }
                + segments(1)
        },
    ]

    @Test("A manifest that amplifies its size is refused", arguments: Self.amplifiers)
    func amplification(shape: CostShape) throws {
        let text = shape.text(shape.size)
        #expect(manifestError { _ = try presentation(text) }?.code == .limitExceeded)
    }

    static let large: [CostShape] = [
        CostShape(name: "MPD", size: 5_000) { n in video(copies(n) { representation($0) }) },
        CostShape(name: "playlist", size: 5_000) { n in "#EXTM3U\n" + segments(n) },
    ]

    @Test("Reading ends when its task is cancelled", arguments: Self.large)
    func cancellation(shape: CostShape) async throws {
        let text = shape.text(shape.size)
        let reading = Task {
            // Cancelled before it begins, so that nothing depends on time.
            withUnsafeCurrentTask { $0?.cancel() }
            return manifestError { _ = try presentation(text) }?.code
        }
        #expect(await reading.value == .cancelled)
    }
}
