import Foundation
import Instrument
import InstrumentJSON
import InstrumentQuality
import InstrumentTerminal
import TestTraits
import Testing

@testable import InstrumentReport

@Suite("Report page")
struct ReportPageTests {
    private let now = WallTime(milliseconds: 1_795_360_000_000)

    private func count(_ text: String, in page: String) -> Int { page.components(separatedBy: text).count - 1 }

    private var hostileSet: SessionSet {
        let sessions = SampleSessions.hostile.enumerated().map { number, text in
            SampleSessions.events(number, title: text, source: text, failure: number % 3 == 0 ? (text, text) : nil)
        }
        return SampleSessions.set(sessions, inputs: SampleSessions.hostile)
    }

    @Test("Titles, addresses, causes and file names from outside are text, and never markup")
    func hostile() {
        let comparison = Comparison(hostileSet, against: hostileSet)
        let page = ReportPage(hostileSet, comparison: comparison, now: now).html
        #expect(count("<script", in: page) == 2)
        #expect(count("</script>", in: page) == 2)
        #expect(count("<style", in: page) == 1)
        #expect(count("</style>", in: page) == 1)
        for part in ["<img", "<svg onload", "<b>", "<!--", "<!D"] {
            #expect(count(part, in: page) == (part == "<!D" ? 1 : 0), "\(part)")
        }
        #expect(page.contains("&lt;/script&gt;&lt;script&gt;alert(1)"))
        #expect(page.contains("שלום &lt;b&gt;"))
        // No attribute ends early: a quote of a value is always an entity.
        #expect(!page.contains("onerror=alert(1)>") && !page.contains("' onmouseover"))
        let unsafe = page.unicodeScalars.filter { $0.isUnsafeForTerminals && $0 != "\n" }
        #expect(unsafe.isEmpty)
    }

    @Test("The page of fixed sessions is the one whose pictures are stored (to update it: UPDATE_GOLDEN=1)")
    func golden() throws {
        let titles = ["News at ten", "Sport", "The Long Night", "Kids"]
        let sessions = (0..<24).map { number in
            let title = titles[number % titles.count]
            return SampleSessions.events(
                number,
                title: title,
                source: "https://cdn-\(number % 2 == 0 ? "a" : "b").example/\(title.prefix(4))/master.m3u8",
                startTime: 300 + number * 137 % 1_900,
                stall: 400 + number * 611 % 9_000,
                failure: [3, 8, 16].contains(number) ? ("httpStatus", "status 404 for v1/\(number).ts") : nil,
                extraStalls: number % 3,
                origin: [
                    "monitorLocation": number % 3 == 0 ? "oslo" : "paris",
                    "monitorLabels": ["cdn": number % 2 == 0 ? "alpha" : "beta"],
                    "playerProfile": number % 4 == 1 ? "hlsjs" : "standard",
                ]
            )
        }
        let page = ReportPage(SampleSessions.set(sessions), now: now).html
            .replacing("Instrument \(InstrumentVersion.current)", with: "Instrument")
        #expect(try ProjectFile("Tests/Pages/report.html").text(updating: page) == page)
    }

    @Test("The table has a filter for each property in which its sessions differ, and rows name their values by number")
    func filters() throws {
        let hostile = "\"><script>alert(1)</script>"
        let sessions = (0..<4).map { number in
            SampleSessions.events(
                number,
                origin: [
                    "monitorLocation": "oslo", "playerProfile": number == 0 ? "hlsjs" : "standard",
                    "monitorLabels": ["cdn": number < 2 ? .string(hostile) : "beta", "isp": "x"],
                ]
            )
        }
        let set = SampleSessions.set(sessions)
        let page = ReportPage(set, now: now).html
        // All sessions have one host, one location and one ISP.
        #expect(count("<select class=\"from\">", in: page) == 2)
        #expect(page.contains("<bdi>profile</bdi>") && page.contains("<bdi>cdn</bdi>"))
        #expect(count("<script", in: page) == 2)
        let filters = SessionFilters(set.listed)
        #expect(Set(set.listed.map { filters.numbers(of: $0) }) == ["0,0", "1,0", "1,1"])
        for session in set.listed { #expect(page.contains("data-f=\"\(filters.numbers(of: session))\"")) }
        // Sessions that do not differ have no filter.
        let single = ReportPage(SampleSessions.set([sessions[0]]), now: now).html
        #expect(count("<select class=\"from\">", in: single) == 0)
    }

    @Test("Filters and their choices are bounded")
    func manyFilters() {
        let sessions = (0..<300).map { number in
            let labels = (0..<30).map { ("l\($0)", "v\(number)") }
            let values = Dictionary(uniqueKeysWithValues: labels.map { ($0.0, AttributeValue.string($0.1)) })
            return SampleSessions.events(number, origin: ["monitorLabels": .object(values)])
        }
        let page = ReportPage(SampleSessions.set(sessions), now: now).html
        #expect(count("<select class=\"from\">", in: page) == SessionFilters.mostFilters)
        #expect(count("<option value=", in: page) == SessionFilters.mostFilters * (SessionFilters.mostChoices + 1) + 1)
    }

    @Test("The data of the script is JSON without text from outside")
    func data() throws {
        let page = ReportPage(hostileSet, now: now).html
        let start = try #require(page.range(of: "<script type=\"application/json\" id=\"data\">"))
        let end = try #require(page.range(of: "</script>", range: start.upperBound..<page.endIndex))
        let text = String(page[start.upperBound..<end.lowerBound])
        let json = try JSONValue(parsing: text)
        guard case .array(let sessions)? = json["sessions"] else { return #expect(Bool(false), "no sessions") }
        #expect(sessions.count == SampleSessions.hostile.count)
        #expect(!text.contains("alert") && !text.contains("<") && !text.contains("\\"))
    }

    @Test("A policy allows only the page's style and script, by their digests, and no network")
    func policy() throws {
        let page = ReportPage(hostileSet, now: now).html
        #expect(page.contains("default-src 'none'; style-src 'sha256-"))
        #expect(!page.contains("unsafe-inline"))
        #expect(!page.contains(" style=\"") && !page.contains(" onclick"))
        for address in ["src=", "href=\"http", "url(", "@import", "fetch(", "XMLHttpRequest", "innerHTML", "eval("] {
            #expect(!ReportPage.script.contains(address) && !ReportPage.style.contains(address), "\(address)")
        }
        // Digests by an independent program.
        for text in [ReportPage.script, ReportPage.style] {
            let process = Process()
            let (input, output) = (Pipe(), Pipe())
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["sha256sum"]
            (process.standardInput, process.standardOutput) = (input, output)
            try process.run()
            try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
            try input.fileHandleForWriting.close()
            let digits = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self).prefix(64)
            process.waitUntilExit()
            let bytes = stride(from: 0, to: 64, by: 2).compactMap { offset in
                UInt8(digits.dropFirst(offset).prefix(2), radix: 16)
            }
            #expect(page.contains("'sha256-\(Data(bytes).base64EncodedString())'"))
        }
    }

    @Test(
        "A page of a thousand sessions has less than a megabyte",
        arguments: ["long", "hostile", "plain"].prefix(Rounds.of(3))
    )
    func size(kind: String) {
        let texts = kind == "plain" ? ["A film of the evening"] : SampleSessions.hostile
        let sessions = (0..<1000).map { number in
            let text = texts[number % texts.count]
            let title = kind == "long" ? String(repeating: "\"\u{202E}" + text, count: 40) : text
            return SampleSessions.events(number, title: title, source: title, extraStalls: 60)
        }
        let set = SampleSessions.set(sessions)
        let page = ReportPage(set, now: now).html
        #expect(page.utf8.count <= 1_000_000)
        #expect(count("<tr data-o=", in: page) == 1000)
    }

    @Test(
        "Of more than a thousand sessions the failed ones and those with the longest stalls are listed, and all are counted"
    )
    func many() {
        let sessions = (0..<2500).map { number in
            SampleSessions.events(
                number,
                title: "t\(number)",
                stall: number,
                failure: number < 30 ? ("code", "cause") : nil
            )
        }
        let set = SampleSessions.set(sessions)
        #expect(set.count == 2500)
        #expect(set.listed.count == 1000)
        #expect(set.listed.filter { $0.failure != nil }.count == 30)
        #expect(set.listed.contains { $0.title == "t2499" } && !set.listed.contains { $0.title == "t40" })
        let page = ReportPage(set, now: now).html
        #expect(page.contains("lists 1000 of 2500 sessions"))
        #expect(page.utf8.count <= 1_000_000)
    }

    @Test("Sessions that failed are listed first, then those that were left, and the script's data have the same order")
    func failuresFirst() throws {
        let sessions = (0..<6).map { number in
            SampleSessions.events(number, title: "title \(number)", failure: number == 4 ? ("code", "cause") : nil)
        }
        let page = ReportPage(SampleSessions.set(sessions), now: now).html
        let titles = page.components(separatedBy: "<bdi>title ").dropFirst().compactMap {
            $0.first.flatMap { Int("\($0)") }
        }
        #expect(titles == [4, 0, 1, 2, 3, 5])
        let data = try #require(
            page.components(separatedBy: "id=\"data\">").last?.components(separatedBy: "</script>").first
        )
        let json = try JSONValue(parsing: data)
        guard case .array(let list)? = json["sessions"] else { return #expect(Bool(false), "no list") }
        let begins = list.map { row -> Int? in
            if case .array(let keys)? = row["k"] { keys.first?.int } else { nil }
        }
        #expect(begins.dropFirst().compactMap(\.self) == begins.dropFirst().compactMap(\.self).sorted())
        #expect(begins.first != begins.compactMap(\.self).min())
    }

    @Test(
        "A time below a second is in milliseconds",
        arguments: [(0.0, "0.00 s"), (0.25, "250 ms"), (0.9994, "999 ms"), (0.9996, "1.00 s"), (12.5, "12.50 s")]
    )
    func milliseconds(_ seconds: Double, _ text: String) { #expect(Measure.startTime.text(seconds) == text) }

    @Test("Every picture has a name and a description, every control a label, and the page one main heading")
    func accessible() throws {
        let page = ReportPage(hostileSet, comparison: Comparison(hostileSet, against: hostileSet), now: now).html
        let pictures = page.components(separatedBy: "<svg ").dropFirst()
        #expect(pictures.count == Measure.charted.count)
        for picture in pictures {
            #expect(picture.contains("role=\"img\"") && picture.contains("<title>") && picture.contains("<desc>"))
        }
        #expect(count("<h1>", in: page) == 1)
        #expect(count("<html lang=\"en\">", in: page) == 1)
        #expect(count("<label>", in: page) == 3 + count("<select class=\"from\">", in: page))
        for section in ["distributions", "comparison", "failures", "sessions"] {
            #expect(page.contains("aria-labelledby=\"\(section)\"") && page.contains("id=\"\(section)\""))
        }
    }

    @Test("The same sessions give the same page; a page without sessions says so")
    func deterministic() {
        #expect(ReportPage(hostileSet, now: now).html == ReportPage(hostileSet, now: now).html)
        let empty = ReportPage(
            SessionSet(inputs: []),
            comparison: Comparison(SessionSet(inputs: []), against: hostileSet),
            now: now
        )
        #expect(empty.html.contains("0 sessions") && empty.html.contains("No session failed."))
    }

    @Test("Colours of text and areas have enough contrast in both schemes")
    func contrast() throws {
        for scheme in try schemes() {
            for (text, ground) in [
                ("ink", "bg"), ("ink", "card"), ("ink", "select"), ("ink", "bad-bg"), ("ink", "warn-bg"),
                ("soft", "bg"),
                ("soft", "card"), ("soft", "select"), ("accent", "bg"), ("accent", "card"), ("accent", "select"),
                ("bad-ink", "bg"), ("bad-ink", "card"), ("bad-ink", "bad-bg"), ("warn-ink", "card"),
                ("warn-ink", "select"), ("warn-ink", "warn-bg"), ("good-ink", "card"), ("good-ink", "select"),
                ("on-accent", "accent"),
            ] {
                #expect(try ratio(scheme, text, ground) >= 4.5, "\(text) on \(ground)")
            }
            let areas = [
                "accent", "good", "warn", "bad", "other", "edge", "idle", "joining", "paused", "pausedBuffering",
                "seeking", "ad",
            ]
            for area in areas {
                for ground in ["bg", "card"] { #expect(try ratio(scheme, area, ground) >= 3, "\(area) on \(ground)") }
            }
        }
    }

    /// The custom properties of the light and of the dark scheme.
    private func schemes() throws -> [[String: String]] {
        let css = ReportPage.style.filter { !$0.isWhitespace }
        let blocks = css.components(separatedBy: ":root{").dropFirst().map { $0.prefix { $0 != "}" } }
        #expect(blocks.count == 2)
        return blocks.map { block in
            let pairs = block.split(separator: ";").filter { $0.hasPrefix("--") }.map {
                $0.dropFirst(2).split(separator: ":")
            }
            return Dictionary(pairs.map { (String($0[0]), String($0[1])) }) { _, last in last }
        }
    }

    /// The ratio of WCAG 2.2.
    private func ratio(_ scheme: [String: String], _ first: String, _ second: String) throws -> Double {
        let luminances = try [first, second].map { try luminance(#require(scheme[$0])) }.sorted()
        return (luminances[1] + 0.05) / (luminances[0] + 0.05)
    }

    private func luminance(_ color: String) throws -> Double {
        var digits = color.dropFirst()
        if digits.count == 3 { digits = digits.map { "\($0)\($0)" }.joined()[...] }
        let parts = try stride(from: 0, to: 6, by: 2).map { offset in
            let value = Double(try #require(Int(digits.dropFirst(offset).prefix(2), radix: 16))) / 255
            return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    }
}
