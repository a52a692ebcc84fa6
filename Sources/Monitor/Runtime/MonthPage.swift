internal import Instrument
internal import InstrumentMonitor
internal import InstrumentPageDesign
internal import InstrumentText
internal import InstrumentWatch

/// The report of a month as a page: static, so that it is also a file to send and to print.
struct MonthPage {
    /// Rows of a table; of further ones, their number is said.
    static let mostBudgets = 300
    static let mostOutages = 100
    static let mostCauses = 20

    static let style = PageDesign.document + String(decoding: PackageResources.month_css, as: UTF8.self)

    /// The page as UTF-8 text.
    let html: String

    init(_ report: MonthReport) {
        let body: HTML = """
            <a class="skip" href="#incidents">Skip to the incidents</a>
            \(Self.head(report))
            <main>
            \(Self.objectives(report))
            \(Self.causes(report))
            \(Self.outages(report))
            </main>
            """
        html =
            HTMLDocument(title: "Streams, \(report.period.title)", style: Self.style, body: body).html
    }

    // MARK: Head

    private static func head(_ report: MonthReport) -> HTML {
        let figures = figures(of: report).map { figure -> HTML in
            "<div><dt>\(figure.title)</dt><dd>\(figure.value)</dd><dd class=\"note\">\(figure.note)</dd></div>"
        }
        let made = String(report.time.rfc3339.prefix(16)).replacing("T", with: " ")
        return """
            <header>
            <h1>Streams, \(report.period.title)</h1>
            <p>Days are those of UTC. Made \(made) UTC by Instrument \(InstrumentVersion.current).</p>
            <dl class="figures">
            \(figures.joined())
            </dl>
            </header>
            """
    }

    private struct Figure {
        let title: String
        let value: String
        let note: String
    }

    private static func figures(of report: MonthReport) -> [Figure] {
        let met = report.budgets.count { $0.isMet == true }
        let critical = report.outages.count { $0.severity == .critical }
        let open = report.outages.count { $0.end == nil }
        let taken = report.outages.count { $0.takenAfter != nil }
        let longest = report.outages.max { $0.length(until: report.time) < $1.length(until: report.time) }
        return [
            Figure(
                title: "Objectives met",
                value: report.budgets.isEmpty ? "–" : "\(met) of \(report.budgets.count)",
                note: report.budgets.isEmpty
                    ? "none is configured, or nothing is known" : "error budgets that are not empty"
            ),
            Figure(
                title: "Incidents",
                value: "\(report.outages.count)",
                note: "\(critical) critical, \(open) still open"
            ),
            Figure(
                title: "Viewer minutes in trouble",
                value: report.viewerMinutes.fixed(digits: 0),
                note: "as if each stream had one viewer"
            ),
            Figure(
                title: "Longest incident",
                value: longest.map { MessageText.words($0.length(until: report.time)) } ?? "–",
                note: longest.map { PageDesign.cut($0.title, to: 60) } ?? "no incident"
            ),
            Figure(
                title: "Time to restore, median",
                value: report.timeToRestore.map(MessageText.words) ?? "–",
                note: report.timeToTake.map { "taken after \(MessageText.words($0)), median; \(taken) taken" }
                    ?? "no incident was taken"
            ),
        ]
    }

    // MARK: Objectives

    private static func objectives(_ report: MonthReport) -> HTML {
        if report.budgets.isEmpty {
            return """
                <section aria-labelledby="objectives">
                <h2 id="objectives">Objectives</h2>
                <p>No objective has a value in these days. Objectives are configured under <code>objectives:</code>.</p>
                </section>
                """
        }
        let rows = report.budgets.prefix(mostBudgets).map { row($0, report.period) }
        return """
            <section aria-labelledby="objectives">
            <h2 id="objectives">Objectives</h2>
            <p>Those with the least error budget left come first. The budget is what the goal leaves for these days.</p>
            <ul class="legend">
            \(legend("good", "within the goal"))\(legend("warn", "took up to a quarter of the budget"))\(legend("bad", "took more"))\(legend("none", "nothing known"))
            </ul>
            <div class="scroll" role="group" aria-labelledby="objectives" tabindex="0">
            <table class="stacked">
            <thead><tr><th scope="col">Objective</th><th scope="col">Goal</th><th scope="col">Reached</th><th scope="col">Budget left</th><th scope="col">Its course</th><th scope="col" class="days">Days</th></tr></thead>
            <tbody>
            \(rows.joined())
            </tbody>
            </table>
            </div>
            \(more(report.budgets.count - rows.count, "budget"))
            </section>
            """
    }

    private static func legend(_ kind: String, _ text: String) -> HTML {
        "<li><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect class=\"\(kind)\" width=\"10\" height=\"10\"/></svg>\(text)</li>"
    }

    private static func row(_ budget: MonthReport.Budget, _ period: ReportPeriod) -> HTML {
        let group: HTML =
            budget.group.isEmpty
            ? ""
            : "<br><small>\(budget.objective.groupBy ?? "") <bdi>\(PageDesign.cut(budget.group, to: 80))</bdi></small>"
        let isMet = budget.isMet == true
        return """
            <tr><th scope="row"><bdi>\(PageDesign.cut(budget.objective.name, to: 80))</bdi>\(group)</th>\
            <td data-t="Goal">\(goal(budget.objective.goal))</td>\
            <td data-t="Reached" class="\(isMet ? "met" : "missed")">\(Self.share(budget.value ?? 0)) \(isMet ? "✓" : "✗")<span class="note"> \(isMet ? "met" : "missed")</span></td>\
            <td data-t="Budget left" class="\((budget.left ?? 0) > 0 ? "met" : "missed")">\(left(budget)) %</td>\
            <td class="course">\(MonthDrawing.course(budget))</td>\
            <td class="days">\(MonthDrawing.days(budget, period))</td></tr>

            """
    }

    // MARK: Incidents

    private static func causes(_ report: MonthReport) -> HTML {
        let causes = report.causes
        if causes.isEmpty { return "" }
        let most = max(causes.first?.viewerMinutes ?? 0, 0.001)
        let rows = causes.prefix(mostCauses).map { cause -> HTML in
            """
            <tr><td class="wide"><bdi>\(PageDesign.cut(cause.title, to: 160))</bdi></td><td>\(cause.count)</td>\
            <td>\(cause.viewerMinutes.fixed(digits: 1))</td><td class="share">\(MonthDrawing.bar(cause.viewerMinutes / most))</td></tr>

            """
        }
        return """
            <section aria-labelledby="causes">
            <h2 id="causes">Causes</h2>
            <div class="scroll" role="group" aria-labelledby="causes" tabindex="0">
            <table>
            <thead><tr><th scope="col">Cause</th><th scope="col">Incidents</th><th scope="col">Viewer minutes</th><th scope="col"><span class="unseen">Share</span></th></tr></thead>
            <tbody>
            \(rows.joined())
            </tbody>
            </table>
            </div>
            \(more(causes.count - rows.count, "cause"))
            </section>
            """
    }

    private static func outages(_ report: MonthReport) -> HTML {
        let rows = report.outages.prefix(mostOutages).map { row($0, report.time) }
        let kept: HTML =
            report.isWholeSince.map {
                "<p>The monitor keeps no incident that ended before \(PageDesign.minutes($0)).</p>"
            } ?? ""
        if rows.isEmpty {
            return """
                <section aria-labelledby="incidents">
                <h2 id="incidents">Incidents</h2>
                <p>There was no incident in these days.</p>\(kept)
                </section>
                """
        }
        return """
            <section aria-labelledby="incidents">
            <h2 id="incidents">Incidents</h2>
            <p>Those that cost viewers most come first.</p>\(kept)
            <div class="scroll" role="group" aria-labelledby="incidents" tabindex="0">
            <table class="stacked">
            <thead><tr><th scope="col">Cause</th><th scope="col">Began (UTC)</th><th scope="col">Lasted</th><th scope="col">Streams</th><th scope="col">Viewer minutes</th><th scope="col">Taken after</th><th scope="col">By</th></tr></thead>
            <tbody>
            \(rows.joined())
            </tbody>
            </table>
            </div>
            \(more(report.outages.count - rows.count, "incident"))
            </section>
            """
    }

    private static func row(_ outage: MonthReport.Outage, _ now: WallTime) -> HTML {
        let labels = outage.labels.sorted { $0.key < $1.key }.prefix(4).map {
            "\($0.key)=\(PageDesign.cut($0.value, to: 40))"
        }
        let note: HTML = labels.isEmpty ? "" : "<br><small><bdi>\(labels.joined(separator: " "))</bdi></small>"
        let length = MessageText.words(outage.length(until: now))
        return """
            <tr><td class="wide"><bdi>\(PageDesign.cut(outage.title, to: 160))</bdi>\(note)</td>\
            <td data-t="Began">\(String(PageDesign.minutes(outage.begin).dropLast(4)))</td><td data-t="Lasted">\(length)\(outage.end == nil ? ", still open" : "")</td>\
            <td data-t="Streams">\(outage.streamCount > 0 ? "\(outage.streamCount)" : "–")</td><td data-t="Viewer minutes">\(outage.viewerMinutes.fixed(digits: 1))</td>\
            <td data-t="Taken after">\(outage.takenAfter.map(MessageText.words) ?? "–")</td><td data-t="By"><bdi>\(PageDesign.cut(outage.owner ?? "–", to: 40))</bdi></td></tr>

            """
    }

    /// A share as a percentage, with the digits that tell 99.95 from 100.
    static func share(_ share: Double) -> String {
        let percent = 100 * share
        // What was not whole is not called whole.
        let shown = share < 1 ? min(percent, 99.999) : percent
        return shown.fixed(digits: shown >= 99.9 && shown < 100 ? 3 : shown >= 99 && shown < 100 ? 2 : 1) + " %"
    }

    /// The percentage of the budget that is left, with a minus sign.
    static func left(_ budget: MonthReport.Budget) -> String {
        (100 * (budget.left ?? 0)).fixed(digits: 0).replacing("-", with: "−")
    }

    /// A goal as it was written: without the zeros at its end.
    private static func goal(_ goal: Double) -> String {
        var text = (100 * goal).fixed(digits: 4)
        while text.hasSuffix("0") { text.removeLast() }
        return (text.hasSuffix(".") ? String(text.dropLast()) : text) + " %"
    }

    private static func more(_ count: Int, _ noun: String) -> HTML {
        count > 0 ? "<p class=\"note\">\(count) more \(noun)\(count == 1 ? "" : "s").</p>" : ""
    }
}

/// The small drawings of a budget, and the bars of a table.
enum MonthDrawing {
    private static let cell = 10

    /// One square for each day; the text says the same for people who do not see it.
    static func days(_ budget: MonthReport.Budget, _ period: ReportPeriod) -> HTML {
        let squares = zip(period.days, budget.days).enumerated().map { place, entry -> HTML in
            let (number, day) = entry
            let text = day.map { MonthPage.share(1 - $0.bad / $0.total) } ?? "nothing known"
            return """
                <rect class="\(kind(day, budget))" x="\(place * cell)" y="0" width="\(cell - 2)" height="20" rx="1">\
                <title>\(ReportPeriod.name(of: number)): \(text)</title></rect>
                """
        }
        return """
            <svg viewBox="0 0 \(budget.days.count * cell) 20" preserveAspectRatio="none" role="img" aria-label="\(summary(budget, period))">\(squares.joined())</svg>
            """
    }

    /// The kind of a day, by what it took of the budget of all days.
    static func kind(_ day: BudgetSeries.Day?, _ budget: MonthReport.Budget) -> String {
        guard let day else { return "none" }
        if 1 - day.bad / day.total >= budget.objective.goal { return "good" }
        return budget.cost(of: day) <= 0.25 ? "warn" : "bad"
    }

    private static func summary(_ budget: MonthReport.Budget, _ period: ReportPeriod) -> String {
        let known = budget.days.count { $0 != nil }
        let missed = zip(period.days, budget.days).filter { kind($1, budget) == "warn" || kind($1, budget) == "bad" }
        let worst = zip(period.days, budget.days).compactMap { day, sums in sums.map { (day, $0) } }
            .max { budget.cost(of: $0.1) < budget.cost(of: $1.1) }
        var text = "\(known) days known, \(missed.count) of them missed the goal"
        if let worst, !missed.isEmpty {
            text +=
                "; the worst was \(ReportPeriod.name(of: worst.0)) with \(MonthPage.share(1 - worst.1.bad / worst.1.total))"
        }
        return text
    }

    /// What is left of the budget over the days, from all to none; below none the line ends at the lower edge.
    static func course(_ budget: MonthReport.Budget) -> HTML {
        let course = [1] + budget.course
        let step = 100 / Double(max(1, course.count - 1))
        let points = course.enumerated().map { place, left in
            "\((Double(place) * step).fixed(digits: 1)),\((20 - 16 * min(max(left, -0.2), 1) - 3.5).fixed(digits: 1))"
        }
        let left = MonthPage.left(budget)
        return """
            <svg viewBox="0 0 100 20" preserveAspectRatio="none" role="img" aria-label="The budget went from 100 % to \(left) %">\
            <line class="zero" x1="0" x2="100" y1="16.5" y2="16.5"/><polyline class="line" points="\(points.joined(separator: " "))"/></svg>
            """
    }

    static func bar(_ share: Double) -> HTML {
        let width = (100 * min(max(share, 0), 1)).fixed(digits: 1)
        return
            "<svg viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\" height=\"10\"><rect class=\"bar\" width=\"\(width)\" height=\"10\"/></svg>"
    }
}
