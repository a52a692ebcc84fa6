internal import ArgumentParser
internal import Instrument
internal import InstrumentCommandLine
internal import InstrumentHTTP
internal import InstrumentJSON
internal import InstrumentTerminal
internal import InstrumentText

/// `player-monitor objectives`: what a month was like, from a running monitor.
struct ObjectivesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "objectives",
        abstract: "Show the objectives and incidents of a month, as text, page or PDF, from a running monitor.",
        discussion: """
            Without --month, the report is about the latest 30 days, today included. Days are those of UTC. A monitor keeps two months, \
            and 200 closed incidents. In the column of days, ▇ is a day within the goal, ▁ a day that missed it, and · a day of \
            which nothing is known.

            Examples:
              player-monitor objectives
              player-monitor objectives --month 2026-11 -o november.html
              player-monitor objectives --month 2026-11 --pdf november.pdf

            A PDF needs an installed Chromium or Chrome, which prints the page.
            Exit codes: 0 success, 1 the monitor does not answer or refuses, 2 wrong arguments, or a file cannot be written.
            """
    )

    @OptionGroup var options: IncidentsCommand.Options

    @Option(help: ArgumentHelp("Month of the report, in UTC. Default: the latest 30 days.", valueName: "yyyy-mm"))
    var month: String?

    @Option(name: .shortAndLong, help: "File for the report as an HTML page; '-' is standard output.")
    var output: String?

    @Option(help: "File for the report as a PDF.")
    var pdf: String?

    @Option(help: "Program that prints the PDF. Default: an installed Chromium or Chrome.")
    var browser: String?

    func validate() throws {
        if output == "-", options.json {
            throw ValidationError("-o - and --json both write to standard output; choose one")
        }
        if browser != nil, pdf == nil { throw ValidationError("--browser is for --pdf; give --pdf FILE, too") }
    }

    func run() async throws {
        let query = month.map { "?month=" + PercentCoding.encoded($0) } ?? ""
        let terminal = Terminal(isQuiet: true)
        if output != nil || pdf != nil {
            let page = try await options.page("/month" + query)
            if let pdf {
                // A browser that is missing is reported before a file is written.
                let printer = try PagePrinter(browser: browser)
                try await printer.write(page, toPDF: pdf)
            }
            if output == "-" {
                try terminal.output(TerminalText(trusted: String(decoding: page, as: UTF8.self)))
            } else if let output {
                try writeFile(page, to: output)
            }
        }
        if options.json {
            return try terminal.output(json: try await options.send(.get, "/api/month" + query).bytes)
        }
        if output == nil, pdf == nil {
            for line in ObjectivesText(try await options.send(.get, "/api/month" + query)).lines {
                try terminal.output(line + "\n")
            }
        }
    }
}

/// The report of a month for a terminal.
struct ObjectivesText {
    /// The rows of incidents; the page has more.
    private static let mostIncidents = 10

    let lines: [TerminalText]

    /// - Parameter report: the document of `/api/month`.
    init(_ report: JSONValue) {
        var lines = [TerminalText(report["period"]?.string ?? "")]
        let objectives = report["objectives"]?.elements ?? []
        if objectives.isEmpty {
            lines.append("no objective has a value in these days")
        } else {
            let head: [TerminalText] = ["OBJECTIVE", "GOAL", "REACHED", "BUDGET LEFT", "DAYS"]
            lines += ColumnTable([head] + objectives.map(Self.row)).lines
        }
        let incidents = report["incidents"]?.elements ?? []
        let minutes = report["viewerMinutes"]?.number ?? 0
        lines.append("")
        lines.append(
            "\(String(counting: incidents.count, "incident")), \(minutes.fixed(digits: 1)) viewer minutes in trouble"
        )
        lines += ColumnTable(incidents.prefix(Self.mostIncidents).map(Self.incident)).lines
        if incidents.count > Self.mostIncidents { lines.append("+\(incidents.count - Self.mostIncidents) more") }
        self.lines = lines
    }

    private static func row(_ budget: JSONValue) -> [TerminalText] {
        let goal = budget["goal"]?.number ?? 0
        let group = budget["group"]?.string.map { " \(budget["by"]?.string ?? "")=\($0)" } ?? ""
        let days = (budget["days"]?.elements ?? []).map { day in
            day.number.map { $0 >= goal ? "▇" : "▁" } ?? "·"
        }
        return [
            TerminalText((budget["name"]?.string ?? "") + group), TerminalText(percent(goal, digits: 2)),
            TerminalText(
                percent(budget["value"]?.number ?? 0, digits: 3) + (budget["met"] == .bool(true) ? " met" : " missed")
            ),
            TerminalText(percent(budget["budgetLeft"]?.number ?? 0, digits: 0)), TerminalText(trusted: days.joined()),
        ]
    }

    private static func incident(_ incident: JSONValue) -> [TerminalText] {
        let begin = (incident["since"]?.string ?? "").prefix(16).replacing("T", with: " ")
        let minutes = ((incident["seconds"]?.number ?? 0) / 60).fixed(digits: 1)
        return [
            TerminalText(begin), "\(minutes) min\(incident["ended"] == nil ? ", open" : "")",
            "\(incident.streamCountText)",
            TerminalText(incident["title"]?.string ?? ""),
        ]
    }

    private static func percent(_ share: Double, digits: Int) -> String {
        (100 * share).fixed(digits: digits) + " %"
    }
}
