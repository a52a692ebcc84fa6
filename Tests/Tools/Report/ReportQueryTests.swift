import Instrument
import InstrumentQuality
import InstrumentTerminal
import Testing

@testable import InstrumentReport

@Suite("Sessions of a report by stream, labels, profile and host")
struct ReportQueryTests {
    /// A session of a stream with its labels.
    private func session(
        _ number: Int,
        _ stream: String?,
        cdn: String,
        host: String,
        failure: (code: String, description: String)? = nil
    ) -> [Event] {
        let events = SampleSessions.events(
            number,
            source: "https://user:pass@\(host)/film.m3u8?token=1",
            failure: failure
        )
        guard let stream else { return events }
        return events.map { event in
            var event = event
            event.attributes.merge([
                "monitorStream": .string(stream), "monitorLocation": "oslo", "monitorLabels": ["cdn": .string(cdn)],
            ])
            if event.action == .mediaRequest { event.attributes["playerProfile"] = number < 2 ? "hlsjs" : "standard" }
            return event
        }
    }

    private var sessions: [[Event]] {
        func stale(_ ms: Int) -> (code: String, description: String) {
            ("stalePlaylist", "the live playlist has not changed for \(ms) ms; check it")
        }
        return [
            session(0, "news", cdn: "alpha", host: "A.example"),
            session(1, "news", cdn: "alpha", host: "b.example:8443", failure: stale(16_312)),
            session(2, "sport", cdn: "beta", host: "a.example", failure: stale(15_950)),
            session(3, "sport", cdn: "beta", host: "a.example", failure: stale(17_001)),
            session(4, nil, cdn: "", host: "a.example", failure: ("notFound", "status 404 from a.example")),
        ]
    }

    private func set(_ conditions: [String] = [], by dimensions: [String] = []) throws -> SessionSet {
        var builder = ReportBuilder(
            inputs: ["x"],
            selecting: SessionQuery(try conditions.map { try #require(SessionQuery.Condition($0)) }),
            groupedBy: try dimensions.map { try #require(SessionDimension($0)) }
        )
        for event in sessions.joined() { builder.observe(event) }
        return builder.finish()
    }

    @Test(
        "Sessions are selected by each property, whole",
        arguments: [
            (["stream=news"], 2), (["stream=news", "stream=sport"], 4), (["cdn=beta"], 2), (["label.cdn=beta"], 2),
            (["cdn!=beta"], 3), (["cdn="], 1), (["host=a.example"], 4), (["host=b.example:8443"], 1),
            (["profile=hlsjs"], 2), (["location=oslo", "outcome=failed"], 3),
            (["cause=stalePlaylist", "cdn=alpha"], 1),
            (["title=Film"], 5), (["nothing=here"], 0), (["stream!="], 4), ([], 5),
        ]
    )
    func selection(conditions: [String], count: Int) throws {
        let set = try set(conditions)
        #expect((set.count, set.leftOutCount) == (count, 5 - count))
        #expect(set.listed.count == count)
    }

    @Test("A condition is a name, = or !=, and a value with any characters", arguments: ["", "cdn", "=x", "!=x"])
    func badCondition(text: String) throws {
        #expect(SessionQuery.Condition(text) == nil)
        let condition = try #require(SessionQuery.Condition("label.host!=a=b!"))
        #expect(condition.dimension == .label("host") && condition.value == "a=b!" && !condition.isEqual)
        #expect(condition.dimension.name == "label.host" && SessionDimension("cdn")?.name == "cdn")
    }

    @Test("Failures that differ in numbers and addresses alone are one row, and come first")
    func causes() throws {
        let set = try set()
        #expect(set.causes.count == 3)
        let stale = set.causes.filter { $0.key.code == "stalePlaylist" }
        #expect(stale.map(\.value).sorted() == [1, 2])
        #expect(Set(stale.map(\.key.description)) == ["the live playlist has not changed for … ms; check it"])
        #expect(set.causes.keys.contains { $0.description == "status 404 from …" })
        // The page and the table list failed sessions first, each with its own words.
        #expect(set.listed.map { $0.failure == nil } == [false, false, false, false, true])
        #expect(set.listed.first?.failure?.description.contains("16312") == true)
        let lines = ReportText(set).lines.map(\.string)
        let failures = try #require(lines.firstIndex(of: "Failures by cause"))
        #expect(failures < (lines.firstIndex(of: "Start time") ?? 0))
    }

    @Test("Groups have the figures of their sessions, those that fail most first")
    func groups() throws {
        let byStream = try set(by: ["stream", "cdn"]).groups.sorted
        #expect(byStream.map(\.names) == [["–", "–"], ["sport", "beta"], ["news", "alpha"]])
        #expect(byStream.map(\.counts.sessions) == [1, 2, 2] && byStream.map(\.failures) == [1, 2, 1])
        #expect(byStream[2].startTime != nil && byStream[2].rebufferRatio ?? 0 > 0)
        let lines = ReportText(try set(["stream!="], by: ["cdn"])).lines.map(\.string)
        let rows = lines.drop { $0 != "Sessions by cdn" }.prefix(4).map {
            $0.split(separator: " ").joined(separator: " ")
        }
        #expect(rows.count == 4 && rows[1].hasPrefix("cdn sessions failed"), "\(rows)")
        #expect(rows[2].hasPrefix("beta 2 2 (100.0 %)") && rows[3].hasPrefix("alpha 2 1 (50.0 %)"), "\(rows)")
        let page = ReportPage(try set(by: ["cdn"]), now: WallTime(milliseconds: 0)).html
        #expect(page.contains("<h2 id=\"groups\">Sessions by cdn</h2>") && page.contains("<bdi>alpha</bdi>"))
        #expect(!ReportPage(try set(), now: WallTime(milliseconds: 0)).html.contains("id=\"groups\""))
    }

    @Test("The number of groups is bounded, and no session is lost")
    func manyGroups() throws {
        var builder = ReportBuilder(inputs: [], groupedBy: [.host])
        for number in 0..<(SessionGroups.most + 30) {
            for event in SampleSessions.events(number, source: "https://h\(number).example/") { builder.observe(event) }
        }
        let groups = builder.finish().groups.sorted
        #expect(groups.count == SessionGroups.most + 1 && groups.last?.names == ["further groups"])
        #expect(groups.reduce(0) { $0 + $1.counts.sessions } == SessionGroups.most + 30)
    }

    @Test("The table has stream, location, profile, host and labels; recordings without them have empty cells")
    func table() throws {
        let lines = SessionTable.csv(try set(["stream=news"])).split(separator: "\r\n").map(String.init)
        #expect(lines[0].hasSuffix(#""lostEvents","stream","location","profile","host","labels""#))
        #expect(lines[1].hasSuffix(#""news","oslo","hlsjs","b.example:8443","cdn=alpha""#))
        let old = SessionTable.csv(SampleSessions.set([SampleSessions.events(0)])).split(separator: "\r\n")
        #expect(old[1].hasSuffix(#""","","","example.org","""#))
    }

    @Test(
        "A time below a second is in milliseconds, a longer one in seconds",
        arguments: [
            (0, "0.00 s"), (0.0004, "0.00 s"), (0.012, "12 ms"), (0.9994, "999 ms"), (0.9996, "1.00 s"),
            (1.5, "1.50 s"), (-0.34, "-340 ms"), (.infinity, "inf s"),
        ] as [(Double, String)]
    )
    func times(seconds: Double, text: String) {
        if seconds.isFinite { #expect(Measure.startTime.text(seconds) == text) }
        #expect(!Decimal.duration(seconds * 1000).isEmpty)
    }

    @Test("A session that a person stopped is stopped, in the words of play")
    func words() {
        var exit = SampleSessions.events(0)
        exit.removeLast(exit.count - 2)
        let set = SampleSessions.set([exit])
        #expect(set.listed.map(\.ending) == ["stopped before the start"])
        #expect(SessionTable.csv(set).contains("stopped before the start"))
    }
}
