import Foundation
import Instrument
import InstrumentQuality
import InstrumentTerminal
import Testing

@testable import InstrumentReport

@Suite("Report as text and table")
struct ReportTextTests {
    @Test("The text has figures, bars, failures by cause and the sessions most worth a look")
    func text() {
        let sessions = (0..<40).map { number in
            SampleSessions.events(
                number,
                title: "t\(number)",
                startTime: 500 + number * 50,
                stall: number * 10,
                failure: number % 10 == 0 ? ("notFound", "the server answered 404") : nil
            )
        }
        let lines = ReportText(SampleSessions.set(sessions)).lines.map(\.string)
        let text = lines.joined(separator: "\n")
        for part in [
            "40 sessions from 2026-11-22", "Start time, median", "█", "Failures by cause", "notFound", "t39",
            "Made by Instrument \(InstrumentVersion.current).",
        ] {
            #expect(text.contains(part), "\(part)")
        }
        #expect(lines.allSatisfy { !$0.contains("\n") })
    }

    @Test("Numbers at the end of their range end no report")
    func extremeNumbers() {
        var events = SampleSessions.events(0)
        let end = events.removeLast()
        func add(_ action: Action, _ attributes: Attributes, after seconds: Int64) {
            var all = end.attributes
            all.merge(attributes)
            let time = Timestamp(
                instant: MonotonicInstant(nanoseconds: end.time.instant.nanoseconds + seconds * 1_000_000_000),
                wallTime: WallTime(milliseconds: .max)
            )
            events.append(Event(action, tracker: TrackerID(0), time: time, attributes: all))
        }
        add(.ping, ["countRequests": .int(.max), "countFailedRequests": .int(.max)], after: 1)
        for second in 2..<600 { add(.requestFinish, ["requestFailed": true], after: Int64(second)) }
        for second in 600..<1700 {
            add(.adFinish, ["isAdsTracker": true, "timeSinceAdBegin": .int(.max)], after: Int64(second))
        }
        add(.stop, [:], after: 2000)
        for first in [
            events,
            events.map {
                Event(
                    $0.action,
                    tracker: $0.tracker,
                    time: Timestamp(
                        instant: $0.time.instant,
                        wallTime: WallTime(milliseconds: .max)
                    ),
                    attributes: $0.attributes
                )
            },
        ] {
            let set = SampleSessions.set([first])
            #expect(!ReportText(set).lines.isEmpty)
            #expect(ReportPage(set, now: WallTime(milliseconds: 0)).html.contains("<html"))
        }
        #expect(!Decimal.duration(.infinity).isEmpty && !Decimal.duration(.nan).isEmpty)
    }

    @Test("Ads have a section with counts, times and errors by code, and sessions without ads have none")
    func ads() {
        let plain = SampleSessions.events(1)
        var events = SampleSessions.events(0)
        let end = events.removeLast()
        func add(_ action: Action, _ attributes: Attributes = [:]) {
            var all = end.attributes
            all["isAdsTracker"] = true
            all.merge(attributes)
            events.append(Event(action, tracker: TrackerID(50), time: end.time, attributes: all))
        }
        for (requested, isFilled) in [(2, true), (1, false)] {
            add(.adBreakBegin, ["adsRequested": .int(requested)])
            if isFilled {
                add(.adBegin, ["timeSinceAdBreakBegin": 400])
                add(.adBufferFinish, ["timeSinceAdBufferBegin": 300])
                add(.adFinish, ["timeSinceAdBegin": 10_000])
            }
            add(.adError, isFilled ? ["adErrorCode": 303] : [:])
            add(.adBreakFinish)
        }
        var stop = end.attributes
        stop["inAdBlock"] = true
        events.append(Event(.stop, tracker: end.tracker, time: end.time, attributes: stop))
        let set = SampleSessions.set([events, plain])
        #expect((set.ads.sessionCount, set.ads.breakCount, set.ads.adCount, set.ads.exitCount) == (1, 2, 1, 1))
        #expect(set.ads.fillRates.map(\.value) == [0.5, 0] && set.ads.startTimes.map(\.value) == [400])
        #expect(set.ads.errors == [303: 1, nil: 1])
        let lines = ReportText(set).lines.map(\.string)
        let rows = lines.drop { $0 != "Ads" }.map { $0.split(separator: " ").joined(separator: " ") }
        #expect(
            rows.prefix(8) == [
                "Ads", "Ad breaks 2 (in 1 session)", "Ads 1 (10.0 s of ads)",
                "Fill rate, mean 25.0 % (2 breaks with a number of expected ads)",
                "Ad start time, median 400 ms (95 % within 400 ms)", "Ad buffering 300 ms (all ads together)",
                "Ad errors 2 (code 303: 1, no code: 1)", "Exits during ads 1 (playbacks that were left during an ad)",
            ]
        )
        let page = ReportPage(set, now: WallTime(milliseconds: 0)).html
        #expect(page.contains("<h2 id=\"ads\">Ads</h2>") && page.contains("code 303: 1, no code: 1"))
        let none = SampleSessions.set([plain])
        #expect(!ReportText(none).lines.map(\.string).contains("Ads"))
        #expect(!ReportPage(none, now: WallTime(milliseconds: 0)).html.contains("id=\"ads\""))
    }

    @Test("Text from outside cannot control the terminal or add a line")
    func hostile() {
        let sessions = SampleSessions.hostile.enumerated().map {
            SampleSessions.events($0, title: $1, source: $1, failure: $0 % 2 == 0 ? ($1, $1) : nil)
        }
        let set = SampleSessions.set(sessions, inputs: SampleSessions.hostile)
        for line in ReportText(set, comparison: Comparison(set, against: set)).lines {
            #expect(line.string.unicodeScalars.allSatisfy { !$0.isUnsafeForTerminals })
        }
    }

    @Test("The number of stalls counts those whose time is shown: the wait for media of a seek is in neither")
    func stallsAndTheirTime() throws {
        let course: [(Action, Int64)] = [
            (.mediaRequest, 0), (.start, 1), (.seekBegin, 5), (.bufferBegin, 5), (.seekFinish, 6), (.bufferFinish, 8),
            (.bufferBegin, 10), (.bufferFinish, 13), (.end, 20),
        ]
        var builder = ReportBuilder(inputs: [])
        for (action, second) in course {
            let time = Timestamp(
                instant: MonotonicInstant(nanoseconds: second * 1_000_000_000),
                wallTime: WallTime(milliseconds: second * 1000)
            )
            builder.observe(Event(action, tracker: TrackerID(0), time: time, attributes: ["senderId": "a"]))
        }
        let session = try #require(builder.finish().listed.first)
        #expect(session.stallCount == 1 && session.values[Measure.rebufferTime.position] == 3)
    }

    @Test("A report counts the viewers who stopped in a stall, and the viewers at the same time")
    func exitInStall() throws {
        // Two viewers after one another, the second of whom leaves in a stall, and a third beside the second.
        let course: [(String, Action, Int64)] = [
            ("a", .mediaRequest, 0), ("a", .start, 0), ("a", .end, 9), ("b", .mediaRequest, 9), ("b", .start, 9),
            ("b", .bufferBegin, 12), ("c", .mediaRequest, 15), ("c", .start, 15), ("b", .stop, 20), ("c", .end, 25),
        ]
        var builder = ReportBuilder(inputs: [])
        for (sender, action, second) in course {
            let time = Timestamp(
                instant: MonotonicInstant(nanoseconds: second * 1_000_000_000),
                wallTime: WallTime(milliseconds: second * 1000)
            )
            builder.observe(
                Event(action, tracker: TrackerID(0), time: time, attributes: ["senderId": .string(sender)])
            )
        }
        let set = builder.finish()
        #expect(set.estimated.exitsDuringRebuffer == 1 && set.plays.peak == 2)
        #expect(set.listed.map(\.ending) == ["ended", "stopped in a stall", "ended"])
        let figures = SummarySection.figures(of: set)
        #expect(figures.first?.note == "3 started, at most 2 at the same time")
        #expect(
            figures.first { $0.title == "Exits in a stall" }.map { "\($0.value), \($0.note)" } == "33.3 %, 1 session"
        )
        #expect(SessionTable.csv(set).contains("stopped in a stall"))
    }

    @Test("Numbers of the table are those of the metrics, without the error of a unit's factor")
    func csvNumbers() {
        let lengths = (0..<40).map { 1001 + 37 * $0 }
        let csv = SessionTable.csv(
            SampleSessions.set(lengths.enumerated().map { SampleSessions.events($0, startTime: $1) })
        )
        let column = csv.components(separatedBy: "\r\n").dropFirst().dropLast().map {
            $0.components(separatedBy: "\",\"")[6]
        }
        #expect(Set(column) == Set(lengths.map(String.init)))
    }

    @Test("A cell of the table is never a formula, and quotes and line breaks stay in their cell")
    func csv() {
        let sessions = SampleSessions.hostile.enumerated().map {
            SampleSessions.events($0, title: $1, source: $1, failure: ($1, $1))
        }
        let csv = SessionTable.csv(SampleSessions.set(sessions))
        let rows = csv.components(separatedBy: "\r\n").dropLast()
        #expect(rows.count == SampleSessions.hostile.count + 1)
        for row in rows {
            let cells = row.dropFirst().dropLast().components(separatedBy: "\",\"")
            for cell in cells where Double(cell) == nil {
                let first = cell.unicodeScalars.first { !$0.properties.isWhitespace }
                #expect(first.map { !"=+-@".unicodeScalars.contains($0) } ?? true, "\(cell)")
            }
        }
        #expect(csv.contains("\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\""))
    }

    @Test("A comparison names the method and what became worse")
    func comparison() throws {
        let (slow, fast) = ([2000, 2100, 2200, 2300, 2400, 2500], [300, 310, 320, 330, 340, 350])
        let sets = [slow, fast].map { times in
            SampleSessions.set(times.enumerated().map { SampleSessions.events($0, startTime: $1) })
        }
        let comparison = Comparison(sets[0], against: sets[1])
        let row = try #require(comparison.rows.first)
        #expect(row.title == "Start time, median")
        #expect(row.method == "Mann–Whitney U")
        #expect(row.verdict.hasPrefix("worse (p = 0.0"))
        #expect(row.difference == "+1.88 s")
        #expect(Comparison(sets[1], against: sets[0]).rows.first?.verdict.hasPrefix("better") == true)
        #expect(comparison.rows.last?.verdict.hasPrefix("no significant difference") == true)
        let few = Comparison(SampleSessions.set([SampleSessions.events(0)]), against: sets[0])
        #expect(few.rows.allSatisfy { $0.verdict == "too few sessions for a test" })
    }

    @Test(
        "The timeline of a session has its states, bitrates, buffer, latency and requests, and a simplified one its length"
    )
    func timeline() throws {
        let set = SampleSessions.set([SampleSessions.events(3, extraStalls: 50)])
        let session = try #require(set.listed.first)
        let whole = session.timeline
        #expect(whole.phases.reduce(0) { $0 + $1.length } == session.length)
        #expect(
            !whole.bitrates.isEmpty && !whole.buffers.isEmpty && !whole.latencies.isEmpty && !whole.requests.isEmpty
        )
        for limit in [8, 50, 200] {
            let simple = whole.simplified(to: limit)
            #expect(simple.phases.reduce(0) { $0 + $1.length } == session.length)
            #expect(simple.phases.count < whole.phases.count && simple.isSimplified)
            #expect(simple.requests.reduce(0) { $0 + $1.count } == whole.requests.reduce(0) { $0 + $1.count })
        }
    }

    @Test("A log of requests takes the place of the sums, for the session with its stream and its source")
    func requestLog() throws {
        var index = RequestIndex()
        let source = "https://example.org/film.m3u8"
        for (begun, failure) in [
            (1_795_353_400_000, "\"timeout\""), (1_795_353_399_100, "null"), (1, "null"), (1_999_999_999_999, "null"),
        ] {
            let line = #"{"stream":4,"source":"\#(source)","begun":\#(begun),"total":120.4,"failure":\#(failure)}"#
            index.add(line: Array(line.utf8))
        }
        index.add(line: Array("{}".utf8))
        index.add(line: Array(#"{"stream":\#(Int.min),"begun":0,"source":"x"}"#.utf8))
        #expect(index.problemCount == 2)
        var builder = ReportBuilder(inputs: [], requests: index)
        for event in SampleSessions.events(3) { builder.observe(event) }
        let session = try #require(builder.finish().listed.first)
        #expect(session.timeline.requests.map(\.time) == [100, 1000])
        #expect(session.timeline.requests.map(\.length) == [120, 120])
        #expect(session.timeline.requests.map(\.failures) == [0, 1])
    }
}
