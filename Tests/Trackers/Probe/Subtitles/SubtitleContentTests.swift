import CostMeasurement
import InstrumentTestKit
import Testing

@testable import InstrumentProbe

@Suite("The content of subtitles")
struct SubtitleContentTests {
    private func read(_ text: String) -> SubtitleContent { SubtitleContent(Array(text.utf8)) }

    // MARK: WebVTT

    private static let cue = "00:00:01.000 --> 00:00:02.000 line:0 align:start\nWords\n"

    @Test(
        "Cues of valid WebVTT are counted",
        arguments: [
            ("WEBVTT", 0), ("\u{FEFF}WEBVTT - a title\n\n\(cue)", 1), ("WEBVTT\r\n\r\n\(cue)\r\n\(cue)", 2),
            ("WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:00.000\n\nid\n\(cue)", 1),
            ("WEBVTT\nX-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:8589934591\r\rNOTE -> a note\r\r\(cue)", 1),
            ("WEBVTT\n\n00:01.500 -->\t100:00:02.000\nLong\n", 1),
            // Every line with an arrow ends the cue before it; only the line of the signature is a comment.
            ("WEBVTT 00:00:01.000 --> 00:00:02.000\n\n\(cue)", 1), ("WEBVTT\n\(cue)", 1),
            ("WEBVTT\n\n\(cue)More words\n\(cue)", 2), ("WEBVTT\n\nNOTE a note\n\(cue)", 1),
            ("WEBVTT\n\nSTYLE\n\(cue)", 1), ("WEBVTT\n\n \t00:01.000\t-->\t00:02.000\t\nA", 1),
            ("WEBVTT\n\n123456:00:00.000 --> 123456:00:00.001", 1),
        ]
    )
    func webVTT(text: String, count: Int) {
        let content = read(text)
        #expect(content.cueCount == count && content.defect == nil, "\(content)")
    }

    @Test(
        "Defects of WebVTT are named, and the other cues are counted",
        arguments: [
            ("WEBVTTX\n\n\(cue)", 0, "(found `WEBVTTX`)"), ("", 0, "found an empty body"),
            ("not found", 0, "must begin with"),
            ("<!doctype html><html>Sorry</html>", 0, "found an HTML page"), ("{\"error\":1}", 0, "found JSON"),
            ("<html xmlns=\"x\"/>", 0, "found an HTML page"), ("<x/>", 0, "found `x`"),
            ("WEBVTT\n\n00:02.000 --> 00:03.000\nA\n\n00:01.000 --> 00:04.000\nB\n", 2, "line 6 must not be before"),
            // The parser takes these, and authors must not write them.
            ("WEBVTT\n\n00:00:02.000 --> 00:00:01.000\nA\n\n\(cue)", 2, "later"),
            ("WEBVTT\n\n99999999999999999999:00:00.000 --> 00:00:01.000\n", 1, "later"),
            ("WEBVTT\n\n0:00:00.000 --> 0:00:01.000\nA\n\n0:00:01.000 --> 00:00:02.000\nB\n", 2, "hours of line 3"),
            ("WEBVTT\n\n00:00.000 --> 00:01.000line:0\nA\n", 1, "space"),
            ("WEBVTT\n\n00:00.000-->00:01.000\nA\n", 1, "line 3 must have a space on each side"),
            ("WEBVTT\n\n00:00.000 -->00:01.000\nA\n", 1, "line 3 must have a space on each side"),
            ("WEBVTT\n\n\(cue)\n00:02.000--> 00:03.000\nA\n", 2, "line 6 must have a space on each side"),
            // The parser takes none of these.
            ("WEBVTT\n\n0:01.000 --> 0:02.000\n", 0, "two times"),
            ("WEBVTT\n\n60:01.000 --> 60:02.000\n", 0, "two times"),
            ("WEBVTT\n\n00:00:1.000 --> 00:00:2.000\n", 0, "two times"),
            ("WEBVTT\n\n00:0:01.000 --> 00:0:02.000\n", 0, "two times"),
            ("WEBVTT\n\n00:00:01.00 --> 00:00:02.00\n", 0, "two times"),
            ("WEBVTT\n\n00:00:01.0000 --> 00:00:02.0000\n", 0, "two times"),
            ("WEBVTT\n\n00:00:01,000 --> 00:00:02,000\n", 0, "two times"),
            ("WEBVTT\n\n-00:00:01.000 --> 00:00:02.000\n", 0, "two times"),
            ("WEBVTT\n\n00:00:01.000 x --> 00:00:02.000\n", 0, "two times"),
            ("WEBVTT\n\n00:00:01.000 -->\n", 0, "two times"), ("WEBVTT\n\n-->\n", 0, "two times"),
            ("WEBVTT\u{0C}\n\n\(cue)", 0, "must begin with"), (" WEBVTT\n\n\(cue)", 0, "must begin with"),
            ("WEBVTT\n\n00:61:00.000 --> 02:00:00.000\n", 0, "line 3"),
            ("WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:8589934592,LOCAL:00:00:00.000\n\n\(cue)", 1, "X-TIMESTAMP-MAP"),
            ("WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:99999999999999999999999,LOCAL:00:00:00.000\n", 0, "X-TIMESTAMP-MAP"),
            ("WEBVTT\n\n\(cue)\nX-TIMESTAMP-MAP=MPEGTS:9,LOCAL:00:00:00.000\n", 1, "must be in the header"),
            ("WEBVTT\n\n00:01.000 -> 00:02.000\nA\n", 0, "line 3 must have `-->`"),
            ("WEBVTT\n\n00:01.000 – 00:02.000\nA\n", 0, "line 3 must have `-->`"),
        ]
    )
    func damagedWebVTT(text: String, count: Int, defect: String) {
        let content = read(text)
        #expect(content.cueCount == count && content.defect?.contains(defect) == true, "\(content)")
    }

    // MARK: TTML

    private static func document(_ body: String, _ attributes: String = "") -> String {
        """
        <?xml version="1.0"?><tt xmlns="http://www.w3.org/ns/ttml" xmlns:ttp="http://www.w3.org/ns/ttml#parameter" \
        \(attributes)><head/><body>\(body)</body></tt>
        """
    }

    @Test(
        "Timed paragraphs of TTML are counted, also those whose division or span has the time",
        arguments: [
            ("<div/>", 0), ("<div><p begin=\"1s\" end=\"2s\">A</p><p>B</p></div>", 1),
            ("<div begin=\"00:00:01.5\"><p>A</p><p>B</p></div>", 2),
            ("<div><p><span begin=\"10t\" dur=\"500ms\">A</span></p></div>", 1),
            ("<div><p begin=\"00:00:01:12\" end=\"3.5m\"/></div>", 1),
            // The image profiles of IMSC.
            ("<div begin=\"1s\" end=\"2s\"><image src=\"a.png\"/></div><div><image src=\"b.png\"/></div>", 1),
            ("<div begin=\"1s\" smpte:backgroundImage=\"#a\"/><div begin=\"2s\" smpte:backgroundImage=\"#b\"/>", 2),
        ]
    )
    func timedText(body: String, count: Int) {
        let content = read(Self.document(body, "ttp:frameRate=\"25\" ttp:tickRate=\"10000000\""))
        #expect(content.cueCount == count && content.defect == nil, "\(content)")
        let prefixed = Self.document(body).replacing("<", with: "<tt:").replacing("<tt:/", with: "</tt:")
            .replacing("<tt:?xml version=\"1.0\"?>", with: "")
        #expect(read(prefixed).cueCount == count)
    }

    @Test(
        "Frames of TTML count at the effective frame rate",
        arguments: [
            ("", 100.0), ("ttp:frameRateMultiplier=\"1000 1001\"", 100.1),
            ("ttp:frameRateMultiplier=\"1000:1001\"", 100.1),
            ("ttp:frameRateMultiplier=\"1 1\"", 100), ("ttp:frameRateMultiplier=\"1 0\"", 100),
            ("ttp:frameRateMultiplier=\"fast\"", 100), ("ttp:frameRateMultiplier=\"\"", 100),
        ]
    )
    func effectiveRate(attribute: String, seconds: Double) {
        let text = Self.document("<div><p begin=\"3000f\" dur=\"3f\"/></div>", "ttp:frameRate=\"30\" \(attribute)")
        // A range that the paragraph is outside of, so that its beginning is noted.
        let content = TimedTextReader.read(Array(text.utf8), range: 0..<1_000_000_000)
        #expect(content.firstOutside == Int64((seconds * 1e9).rounded()), "\(content)")
    }

    @Test(
        "Elements of TTML are shown together, or one after another in a sequence",
        arguments: [
            ("par", "<p dur=\"1s\"/><p dur=\"2s\"/><p begin=\"1s\" dur=\"1s\"/>", nil),
            ("seq", "<p dur=\"1s\"/><p dur=\"2s\"/><p begin=\"1s\" dur=\"1s\"/>", 4.0),
            // A child without an end takes no time.
            ("seq", "<p dur=\"2s\"/><p begin=\"1s\"/><p dur=\"1s\"/>", 3.0),
            ("seq", "<p dur=\"3s\"><span begin=\"1s\"/></p><p end=\"1s\"/>", 3.0),
        ] as [(String, String, Double?)]
    )
    func sequences(container: String, body: String, firstOutside: Double?) {
        let text = Self.document("<div timeContainer=\"\(container)\">\(body)</div>")
        let content = TimedTextReader.read(Array(text.utf8), range: 0..<2_500_000_000)
        #expect(content.firstOutside == firstOutside.map { Int64($0 * 1e9) } && content.defect == nil, "\(content)")
    }

    @Test(
        "TTML in another namespace, or in none, is named, and its cues are counted",
        arguments: [
            ("<tt><body><p begin=\"1s\"/></body></tt>", "found no namespace"),
            ("<tt xmlns=\"http://www.w3.org/2006/10/ttaf1\"><body><p begin=\"1s\"/></body></tt>", "2006/10/ttaf1`"),
            ("<tt xmlns=\"http://www.w3.org/ns/ttml/\"><body><p begin=\"1s\"/></body></tt>", "found `http"),
            // The namespace is that of another prefix.
            ("<tt xmlns:tt=\"http://www.w3.org/ns/ttml\"><body><p begin=\"1s\"/></body></tt>", "found no namespace"),
            ("<a:tt xmlns=\"http://www.w3.org/ns/ttml\"><a:body><a:p begin=\"1s\"/></a:body></a:tt>", "no namespace"),
        ]
    )
    func namespace(text: String, defect: String) {
        let content = read(text)
        #expect(content.cueCount == 1 && content.defect?.contains(defect) == true, "\(content)")
    }

    @Test(
        "Content of TTML is shown only while its region is",
        arguments: [
            // Paragraphs in one region after another, by the times of the regions.
            ("<div><p region=\"a\">A</p><p region=\"b\">B</p></div>", 2, 5.0),
            // An element without a region is in that of the element around it.
            ("<div region=\"b\"><p>B</p><p region=\"c\">C</p></div>", 1, 5.0),
            ("<div region=\"b\"><p begin=\"1s\" end=\"6s\">B</p></div>", 1, 5.0),
            // The region is over before the paragraph begins.
            ("<p region=\"a\" begin=\"4s\" end=\"6s\">A</p>", 0, nil),
            ("<p region=\"c\" begin=\"1s\">C</p><p region=\"none\">D</p>", 1, nil),
            ("<div region=\"b\"><image src=\"a.png\"/></div>", 1, 5.0),
        ] as [(String, Int, Double?)]
    )
    func regions(body: String, count: Int, firstOutside: Double?) {
        let layout =
            "<layout><region xml:id=\"a\" end=\"2s\"/><region xml:id=\"b\" begin=\"5s\" dur=\"2s\"/>"
            + "<region xml:id=\"c\"/></layout>"
        let text = Self.document(body).replacing("<head/>", with: "<head>\(layout)</head>")
        let content = TimedTextReader.read(Array(text.utf8), range: 0..<3_000_000_000)
        #expect(content.cueCount == count && content.defect == nil, "\(content)")
        #expect(content.firstOutside == firstOutside.map { Int64($0 * 1e9) }, "\(content)")
    }

    @Test("The latest start of a cue is that of a file, and of no fragment")
    func latestStart() {
        let cues = "WEBVTT\n\n00:07.000 --> 00:08.000\nA\n\n00:02.000 --> 00:09.000\nB\n"
        #expect(read(cues).latestStart == 7_000_000_000)
        #expect(read(Self.document("<p begin=\"3s\"/><p begin=\"2s\" end=\"9s\"/>")).latestStart == 3_000_000_000)
        #expect(read("WEBVTT\n").latestStart == nil)
        let fragment = SubtitleContent(Boxes.segment([Self.text]), initialization: Boxes.initialization("stpp"))
        #expect(fragment.cueCount == 1 && fragment.latestStart == nil)
    }

    @Test("A factor of the frame rate of TTML that cannot be read is named", arguments: ["1 0", "1000", "fast", ""])
    func multiplier(text: String) {
        let content = read(Self.document("<p begin=\"3f\"/>", "ttp:frameRateMultiplier=\"\(text)\""))
        #expect(content.cueCount == 1 && content.defect?.contains("`frameRateMultiplier`") == true, "\(content)")
    }

    @Test(
        "Defects of TTML are named",
        arguments: [
            ("<html><body/></html>", "an HTML page"), ("<!DOCTYPE html><html/>", "an HTML page"),
            ("<smil><body/></smil>", "must be `tt` (found `smil`)"), ("<!DOCTYPE tt><tt/>", "document type"),
            ("<!DOCTYPE tt [<!ENTITY a \"aaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]><tt>&b;</tt>", "document type"),
            ("<tt><body>", "not closed"), (document("<p begin=\"soon\"/>"), "time expression"),
            (document("<p begin=\"00:00:01:30\" end=\"3s\"/>"), "time expression"),
            (document("<p begin=\"3s\" end=\"1s\"/>"), "must not be before"),
            (document("<p begin=\"\(String(repeating: "9", count: 400))s\"/>"), "time expression"),
            (String(repeating: "<tt>", count: 1000), "deep"),
        ]
    )
    func damagedTimedText(text: String, defect: String) {
        let content = read(text)
        #expect(content.defect?.contains(defect) == true, "\(content)")
    }

    // MARK: Fragmented MP4

    private static let text = Array(document("<div><p begin=\"1s\" end=\"2s\">A</p></div>").utf8)
    private static let emptyText = Array(document("<div/>").utf8)
    private static let webVTTCue = Boxes.box("vttc", Boxes.box("payl", Array("A".utf8)))
    private static let noCue = Boxes.box("vtte", [])

    @Test("WebVTT in another encoding than UTF-8 is named with its line, and its cues are counted")
    func encoding() {
        let content = SubtitleContent(Array("WEBVTT\n\n00:01.000 --> 00:02.000\nH".utf8) + [0xE9, 0x0A])
        #expect(content.cueCount == 1 && content.defect == "line 4 must be UTF-8, as all WebVTT is")
    }

    @Test("Samples of fragmented MP4 that are not empty are counted", arguments: ["stpp", "wvtt", "enct"])
    func fragments(coding: String) {
        let samples = coding == "wvtt" ? [Self.webVTTCue, Self.noCue] : [Self.text, Self.emptyText, []]
        let start = Boxes.initialization(coding)
        let segment = Boxes.segment(samples + samples)
        let content = SubtitleContent(segment, initialization: start)
        // Encrypted samples are not looked into.
        #expect(content.cueCount == (coding == "enct" ? 4 : 2) && content.defect == nil, "\(content)")
        #expect(SubtitleContent(start + segment) == content, "one file")
        let hidden = SubtitleContent(segment, initialization: start, hasReadableSamples: false)
        #expect(hidden.cueCount == samples.filter { !$0.isEmpty }.count * 2)
    }

    @Test("Cues outside the time of their segment are counted")
    func outside() {
        let second: Int64 = 1_000_000_000
        func content(_ coding: String, _ samples: [[UInt8]], at start: Int, _ range: Range<Int64>?) -> SubtitleContent {
            let segment = Boxes.segment(samples, start: start)
            return SubtitleContent(
                segment,
                initialization: Boxes.initialization(coding, timescale: 1_000),
                range: range
            )
        }
        let segment = (10 * second)..<(12 * second)
        // Samples of a second each.
        for (start, outside) in [
            (10_000, 0), (9_000, 0), (8_000, 1), (11_000, 0), (12_000, 1), (12_020, 2), (0, 2), (11_995, 1),
        ] {
            let found = content("wvtt", [Self.webVTTCue, Self.webVTTCue], at: start, segment)
            #expect(found.outsideCount == outside && found.cueCount == 2, "\(start)")
            #expect((found.firstOutside != nil) == (outside > 0) && found.defect == nil)
        }
        #expect(content("wvtt", [Self.noCue, Self.webVTTCue], at: 0, nil).outsideCount == 0)
        #expect(content("wvtt", [Self.noCue], at: 0, segment).outsideCount == 0)
        let divided = "<div begin=\"5s\"><p begin=\"1s\" dur=\"1s\">A</p><p begin=\"4s\" end=\"6s\">B</p></div>"
        for (body, outside) in [
            ("<div><p begin=\"10s\" end=\"11s\">A</p></div>", 0), ("<div><p begin=\"1s\" end=\"11s\">A</p></div>", 0),
            ("<div><p begin=\"0s\" end=\"2s\">A</p></div>", 1), (divided, 1),
            ("<div><p begin=\"13s\">A</p></div>", 1), ("<div><p begin=\"12s\">A</p></div>", 0),
            ("<div><p begin=\"3s\">A</p></div>", 0),
            ("<div><p><span begin=\"1s\" end=\"2s\">A</span></p></div>", 1),
        ] {
            // The time of the sample does not matter.
            let found = content("stpp", [Array(Self.document(body).utf8)], at: 0, segment)
            #expect(found.outsideCount == outside && found.defect == nil, "\(body)")
        }
    }

    @Test("Defects of fragmented MP4 are named")
    func damagedFragments() {
        let start = Boxes.initialization("stpp")
        let segment = Boxes.segment([Self.text])
        for (bytes, defect) in [
            (Array(segment.dropLast(10)), "damaged"), ([], "moof"),
            (Boxes.segment([Array("x".utf8)]), "not well-formed"),
            // A second run names the same bytes.
            (Boxes.segment([Self.text], runs: 3), "damaged"),
        ] {
            let content = SubtitleContent(bytes, initialization: start)
            #expect(content.defect?.contains(defect) == true, "\(defect): \(content)")
        }
        let sound = SubtitleContent(segment, initialization: Boxes.initialization("mp4a"))
        #expect(sound.defect?.contains("must be of subtitles") == true)
    }

    // MARK: Hostile input

    @Test("Damaged subtitles are read without a trap, whatever is damaged", arguments: 0..<20)
    func damage(round: UInt64) {
        var random = SeededGenerator(seed: round)
        let fragmented = Boxes.initialization("stpp") + Boxes.segment([Self.text, Self.emptyText])
        let webVTT = Boxes.initialization("wvtt") + Boxes.segment([Self.webVTTCue, Self.noCue])
        let map = "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:00.000\n\n"
        let seeds = [fragmented, webVTT, Array((map + Self.cue + "\n" + Self.cue).utf8), Self.text]
        for _ in 0..<200 {
            var bytes = seeds.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 1...8, using: &random) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(contentsOf: [0xFF, 0x7F, 0x39, 0x3A].shuffled(using: &random), at: place)
                default: bytes.replaceSubrange(place..<min(place + 4, bytes.count), with: [0xFF, 0xFF, 0xFF, 0xFF])
                }
            }
            let content = SubtitleContent(bytes)
            #expect((0...bytes.count).contains(content.cueCount))
        }
    }

    private static let shapes = [
        CostShape(name: "cues", size: 1000) { "WEBVTT\n\n" + String(repeating: cue + "\n", count: $0) },
        CostShape(name: "dashes", size: 20_000) { "WEBVTT\n\n" + String(repeating: "-", count: $0) },
        CostShape(name: "arrows in one line", size: 5000) { "WEBVTT\n\n" + String(repeating: "--> ", count: $0) },
        CostShape(name: "spaces", size: 20_000) { "WEBVTT\n\n" + String(repeating: " ", count: $0) + "-->" },
        CostShape(name: "maps", size: 1000) {
            "WEBVTT\n" + String(repeating: "X-TIMESTAMP-MAP=,,,,,,,,MPEGTS:\n", count: $0)
        },
        CostShape(name: "commas", size: 20_000) { "WEBVTT\nX-TIMESTAMP-MAP=" + String(repeating: ",", count: $0) },
        CostShape(name: "paragraphs", size: 300) {
            document("<div>" + String(repeating: "<p begin=\"1s\"/>", count: $0) + "</div>")
        },
        CostShape(name: "spans", size: 300) {
            document("<p>" + String(repeating: "<span begin=\"1s\"/>", count: $0) + "</p>")
        },
    ]

    @Test("Reading subtitles costs time in proportion to their size", arguments: shapes)
    func cost(shape: CostShape) {
        let growth = CostGrowth.measure(from: shape.size, making: { Array(shape.text($0).utf8) }) {
            _ = SubtitleContent($0)
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test("Reading many samples costs time in proportion to their size")
    func costOfSamples() {
        let start = Boxes.initialization("wvtt")
        let growth = CostGrowth.measure(
            from: 500,
            making: { Boxes.segment(Array(repeating: Self.webVTTCue, count: $0)) },
            { _ = SubtitleContent($0, initialization: start) }
        )
        #expect(growth.isLinear, "\(growth)")
    }
}

/// Small files of fragmented MP4 with subtitles.
enum Boxes {
    static func word(_ value: Int) -> [UInt8] {
        let value = UInt32(truncatingIfNeeded: value)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        word(content.count + 8) + Array(type.utf8) + content
    }

    /// An initialization section whose samples have this coding.
    static func initialization(_ coding: String, timescale: Int? = nil) -> [UInt8] {
        let description = box("stsd", word(0) + word(1) + box(coding, word(0)))
        let header = timescale.map { box("mdhd", word(0) + word(0) + word(0) + word($0) + word(0) + word(0)) } ?? []
        let media = box("mdia", header + box("minf", box("stbl", description)))
        let extends = box("mvex", box("trex", word(0) + word(1) + word(1) + word(0) + word(0) + word(0)))
        return box("moov", box("trak", media) + extends)
    }

    /// A segment with these samples; further runs name the same bytes.
    static func segment(_ samples: [[UInt8]], runs: Int = 1, start: Int? = nil) -> [UInt8] {
        // With a start, each sample lasts a thousand ticks.
        let time = start.map { box("tfdt", word(0) + word($0)) } ?? []
        let duration = start == nil ? [] : word(1_000)
        let size = 8 + (8 + 8 + 8 + time.count + duration.count + runs * (8 + 12 + 4 * samples.count))
        let run = box("trun", word(0x201) + word(samples.count) + word(size + 8) + samples.flatMap { word($0.count) })
        let header = box("tfhd", word(start == nil ? 0x2_0000 : 0x2_0008) + word(1) + duration)
        let fragment = box("moof", box("traf", header + time + (0..<runs).flatMap { _ in run }))
        return fragment + box("mdat", samples.flatMap(\.self))
    }
}
