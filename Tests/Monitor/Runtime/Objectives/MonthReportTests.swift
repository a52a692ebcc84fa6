import Instrument
import InstrumentJSON
import InstrumentWatch
import TestTraits
import Testing

@testable import InstrumentMonitor
@testable import InstrumentMonitorRuntime

@Suite("The report of a month")
struct MonthReportTests {
    private static let day = Duration.seconds(86_400)

    private func watched(_ streams: [WatchedStream], _ objectives: Objective...) throws -> WatchConfiguration {
        var configuration = configuration(streams, [try alert("down", "up == 0")])
        configuration.objectives = objectives
        return configuration
    }

    @Test(
        "A month is the days of the calendar",
        arguments: [
            ("2026-11", "2026-11-01", "2026-11-30"), ("2024-02", "2024-02-01", "2024-02-29"),
            ("2026-02", "2026-02-01", "2026-02-28"), ("2026-12", "2026-12-01", "2026-12-31"),
        ]
    )
    func months(_ text: String, _ first: String, _ last: String) throws {
        let period = try #require(ReportPeriod(month: text))
        #expect(ReportPeriod.name(of: period.days.lowerBound) == first)
        #expect(ReportPeriod.name(of: period.days.upperBound) == last)
        #expect(period.title == text)
    }

    @Test(
        "What is not a month is refused",
        arguments: ["", "2026", "2026-13", "2026-00", "2026-1", "2026-11-01", "x", "0000-01", "-026-11"]
    )
    func noMonths(_ text: String) { #expect(ReportPeriod(month: text) == nil) }

    @Test("Without a month, a report has the latest 30 days with today")
    func latest() {
        let period = ReportPeriod(until: WallTime(milliseconds: 1_767_225_600_000 + 1))
        #expect(period.title == "2025-12-03 to 2026-01-01")
        #expect(period.span.contains(WallTime(milliseconds: 1_767_225_600_000 + 1)))
    }

    @Test("Two months of days are kept, so that the report of the month before is whole")
    func days() throws {
        var series = BudgetSeries()
        // 2025-12-01, an hour at a time until 2026-01-31.
        let begin: Int64 = 1_764_547_200_000
        for hour in 0..<(62 * 24) {
            let time = WallTime(milliseconds: begin + Int64(hour) * 3_600_000)
            series.add(bad: hour / 24 == 3 ? 1_800 : 0, total: 3_600, at: time)
        }
        let december = try #require(ReportPeriod(month: "2025-12"))
        let days = series.days(december.days)
        #expect(days.count == 31 && days.allSatisfy { $0?.total == 86_400 })
        #expect(days.map { $0?.bad } == (0..<31).map { $0 == 3 ? 43_200 : 0 })
        #expect(series.days(try #require(ReportPeriod(month: "2025-11")).days).allSatisfy { $0 == nil })
        let copy = try #require(BudgetSeries(saved: series.saved, begin: nil))
        #expect(copy.days(december.days) == days)
    }

    @Test("A median is a time that occurred: of an even number, the lower one of the two in the middle")
    func median() {
        #expect(MonthReport.median([]) == nil)
        #expect(MonthReport.median([.seconds(4)]) == .seconds(4))
        #expect(MonthReport.median([.seconds(9), .seconds(4)]) == .seconds(4))
        #expect(MonthReport.median([.seconds(9), .seconds(1), .seconds(4)]) == .seconds(4))
        #expect(MonthReport.median([.seconds(9), .seconds(1), .seconds(4), .seconds(20)]) == .seconds(4))
    }

    @Test("A report has each objective day by day, and the incidents of its days by what they cost")
    func report() throws {
        var objective = Objective(name: "up", indicator: .up, goal: 0.9)
        objective.groupBy = "stream"
        var drive = Drive(try watched([try stream("good"), try stream("bad")], objective))
        drive.run(for: Self.day)
        drive.behaviours["bad"] = .fails(after: .seconds(1), code: "x")
        drive.send(.ended(.failed(code: "x", message: "m")), to: "bad")
        drive.run(for: Self.day / 2)
        drive.behaviours = [:]
        drive.run(for: Self.day)

        let report = MonthReport(ReportPeriod(until: drive.now.wallTime), of: drive.model, at: drive.now)
        #expect(report.budgets.map(\.group) == ["bad", "good"])
        let (bad, good) = (report.budgets[0], report.budgets[1])
        #expect(good.isMet == true && good.left == 1)
        #expect(bad.isMet == false)
        // Half a day of two and a half is down: a fifth is bad where a tenth may be.
        #expect(abs(try #require(bad.value) - 0.8) < 0.02, "\(String(describing: bad.value))")
        #expect(abs(try #require(bad.left) + 1) < 0.2)
        #expect(bad.days.suffix(3).map { MonthDrawing.kind($0, bad) } == ["good", "bad", "good"])
        #expect(bad.days.dropLast(3).allSatisfy { $0 == nil })
        #expect(abs(try #require(bad.course.last) - (try #require(bad.left))) < 0.001)

        let outage = try #require(report.outages.first)
        #expect(report.outages.count == 1 && outage.streamCount == 1 && outage.end != nil)
        #expect(abs(outage.length(until: report.time).seconds - 43_200) < 600)
        #expect(abs(report.viewerMinutes - 720) < 12)
        #expect(report.causes.map(\.count) == [1])
        #expect(report.isWholeSince == nil)

        let past = MonthReport(try #require(ReportPeriod(month: "2025-11")), of: drive.model, at: drive.now)
        #expect(past.budgets.isEmpty && past.outages.isEmpty)
        let json = report.document
        #expect(json["objectives"]?.elements?.count == 2)
        #expect(json["incidents"]?.elements?.first?["seconds"]?.number == outage.length(until: report.time).seconds)
    }

    @Test("An incident over the turn of a month costs each month its part, while it lasts and afterwards")
    func turnOfTheMonth() throws {
        let failing = Drive.Behaviour.fails(after: .seconds(1), code: "x")
        let streams = [try stream("a"), try stream("b")]
        // From noon on 31 January.
        var drive = Drive(try watched(streams), ["a": failing, "b": failing], at: 2_635_200_000)
        drive.run(for: Self.day)
        let minutes = { (month: String, drive: Drive) throws -> Double in
            MonthReport(try #require(ReportPeriod(month: month)), of: drive.model, at: drive.now).viewerMinutes
        }
        #expect(abs(try minutes("2026-01", drive) - 1_440) < 10)
        #expect(abs(try minutes("2026-02", drive) - 1_440) < 10)
        drive.behaviours = [:]
        drive.run(for: Self.day)
        #expect(abs(try minutes("2026-01", drive) - 1_440) < 10)
        #expect(abs(try minutes("2026-02", drive) - 1_440) < 30)
        #expect(try minutes("2026-03", drive) == 0)
    }

    @Test("The page escapes hostile names, has no script, and its policy allows its style alone")
    func page() throws {
        let hostile = "<script>alert(1)</script>\u{202E}\" onload=\"x"
        var objective = Objective(name: "up " + hostile, indicator: .up, goal: 0.9)
        objective.groupBy = "stream"
        var drive = Drive(
            try watched([try stream(hostile, labels: ["cdn": hostile])], objective),
            [hostile: .fails(after: .seconds(1), code: hostile)]
        )
        drive.run(for: .seconds(7_200))
        let html = MonthPage(MonthReport(ReportPeriod(until: drive.now.wallTime), of: drive.model, at: drive.now)).html
        #expect(html.contains("still open"))
        #expect(!html.contains("<script") && !html.contains("\u{202E}") && !html.contains("\" onload"))
        #expect(html.contains("default-src 'none'; style-src 'sha256-"))
        #expect(!html.contains("script-src") && !html.contains("unsafe-inline") && !html.contains("style=\""))
    }

    /// A month of three budgets and some incidents, the same whenever it is made.
    private func fixedMonth() throws -> MonthReport {
        let period = try #require(ReportPeriod(month: "2026-11"))
        let begin = period.span.lowerBound.milliseconds
        let time = { (day: Int, minute: Int) in
            WallTime(milliseconds: begin + Int64(day) * 86_400_000 + Int64(minute) * 60_000)
        }
        let budget = { (objective: Objective, group: String, bad: [Int: Double], unknown: Range<Int>) in
            let days = (0..<30).map { day -> BudgetSeries.Day? in
                guard day < 26, !unknown.contains(day) else { return nil }
                return BudgetSeries.Day(bad: bad[day] ?? 0, total: 86_400)
            }
            return MonthReport.Budget(objective, group: group, days: days)
        }
        var up = Objective(name: "up", indicator: .up, goal: 0.999)
        up.groupBy = "cdn"
        let start = Objective(name: "start", indicator: .startWithin(.seconds(2)), goal: 0.99)
        let outage = {
            (id: String, title: String, severity: AlertSeverity, day: Int, minutes: Int?, streams: Int, cost: Double) in
            MonthReport.Outage(
                id: id,
                title: title,
                cause: title,
                severity: severity,
                begin: time(day, 570),
                end: minutes.map { time(day, 570 + $0) },
                streamCount: streams,
                viewerMinutes: cost,
                labels: ["cdn": day.isMultiple(of: 2) ? "alpha" : "beta"],
                owner: day == 4 ? nil : "Ana",
                takenAfter: day == 4 ? nil : .seconds(240)
            )
        }
        return MonthReport(
            period: period,
            time: time(25, 1_324),
            budgets: [
                budget(up, "beta", [3: 1_500, 12: 4_100, 21: 300], 0..<0),
                budget(up, "alpha", [4: 600, 20: 240], 8..<10), budget(start, "", [7: 300, 16: 900], 0..<2),
            ],
            outages: [
                outage("i1", "Playlist: 503 Service Unavailable", .critical, 12, 68, 7, 476.2),
                outage("i2", "Playlist: 503 Service Unavailable", .critical, 3, 25, 4, 100.4),
                outage("i3", "Black picture", .warning, 4, 12, 1, 12),
                outage("i4", "Segments arrive at 0.6 × real time", .warning, 25, nil, 1, 24.5),
            ],
            isWholeSince: nil
        )
    }

    @Test("The page of a fixed month is the one whose pictures are stored (to update it: UPDATE_GOLDEN=1)")
    func golden() throws {
        let page = MonthPage(try fixedMonth()).html
            .replacing("Instrument \(InstrumentVersion.current)", with: "Instrument")
        #expect(try ProjectFile("Tests/Pages/month.html").text(updating: page) == page)
    }

    @Test("A month without objectives and incidents says so")
    func empty() throws {
        let drive = Drive(try watched([]))
        let html = MonthPage(MonthReport(ReportPeriod(until: drive.now.wallTime), of: drive.model, at: drive.now)).html
        #expect(html.contains("There was no incident in these days."))
        #expect(html.contains("No objective has a value in these days."))
    }

    @Test(
        "What was not whole is not called whole",
        arguments: [(1, "100.0 %"), (0.999_999, "99.999 %"), (0.9995, "99.950 %"), (0.5, "50.0 %")]
    )
    func shares(_ share: Double, _ text: String) { #expect(MonthPage.share(share) == text) }
}
