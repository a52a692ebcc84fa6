internal import ArgumentParser
internal import Foundation
internal import Instrument
internal import InstrumentCommandLine
internal import InstrumentHTTP
internal import InstrumentJSON
internal import InstrumentTerminal
internal import InstrumentText

/// `player-monitor incidents`: shows and changes the incidents of a running monitor.
struct IncidentsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "incidents",
        abstract: "Show, acknowledge, close and silence the incidents of a running monitor; plan work.",
        discussion: """
            Examples:
              player-monitor incidents
              player-monitor incidents show 4f0c21d98e7a
              player-monitor incidents ack 4f0c21d98e7a --for 2h --note "the CDN knows"
              player-monitor incidents silence 'cdn=alpha' 'stream=~news-.*' --for 30m \\
                  --reason "move of the origin"
              player-monitor incidents maintain 'cdn=alpha' --for 2h --name "new encoder"
              player-monitor incidents list --at http://192.0.2.7:9464 \\
                  --token-from MONITOR_TOKEN --json

            A token with the role `act` is needed for all but list, show and log, unless the monitor serves this machine alone.
            Exit codes: 0 success, 1 the monitor does not answer or refuses, 2 wrong arguments.
            """,
        subcommands: [
            IncidentListCommand.self, IncidentShowCommand.self, IncidentAcknowledgeCommand.self,
            IncidentReleaseCommand.self, IncidentCloseCommand.self, IncidentSilenceCommand.self,
            IncidentUnsilenceCommand.self, IncidentMaintainCommand.self, IncidentEndMaintenanceCommand.self,
            IncidentLogCommand.self,
        ],
        defaultSubcommand: IncidentListCommand.self
    )

    /// The options of every subcommand.
    struct Options: ParsableArguments {
        @Option(help: ArgumentHelp("Address of the monitor (--listen of watch).", valueName: "url"))
        var at = "http://127.0.0.1:9464"

        @OptionGroup var token: MonitorToken

        @Flag(help: "Print JSON.")
        var json = false

        func validate() throws { try MonitorClient.validate(at) }

        /// Sends a request; exits with code 1 if the monitor does not answer or refuses.
        func send(_ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil) async throws -> JSONValue {
            try Self.value(await MonitorClient(at, token: token).send(method, path, body))
        }

        private static func value<Value>(_ answer: Result<Value, MonitorClientError>) throws -> Value {
            switch answer {
            case .success(let value): return value
            case .failure(let error):
                Terminal(isQuiet: true).note("player-monitor: \(error)")
                throw ExitCode(ExitStatus.failed.rawValue)
            }
        }

        /// Reads a page; exits with code 1 if the monitor does not answer or refuses.
        func page(_ path: String) async throws -> [UInt8] {
            try Self.value(await MonitorClient(at, token: token).page(path))
        }

        /// Changes something, and prints the answer as JSON, or one line.
        func act(_ method: HTTPMethod, _ path: String, _ body: JSONValue?, done: String) async throws {
            let answer = try await send(method, path, body)
            let terminal = Terminal(isQuiet: true)
            if json { return try terminal.output(json: answer.bytes) }
            try terminal.output("\(done) \(answer["id"]?.string ?? "")\n")
        }
    }

    /// The name of the person, which the monitor uses if the token has none.
    struct Person: ParsableArguments {
        @Option(help: "Name for the log; a token with a name takes precedence. Default: the user of this process.")
        var by: String?

        var name: JSONValue { .string(by ?? ProcessInfo.processInfo.environment["USER"] ?? "") }
    }

    static func path(_ id: String, _ verb: String? = nil) -> String {
        "/api/incidents/" + PercentCoding.encoded(id) + (verb.map { "/" + $0 } ?? "")
    }
}

struct IncidentListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the open incidents, the silences and the planned work."
    )

    @Flag(help: "List closed incidents, too.")
    var all = false

    @OptionGroup var options: IncidentsCommand.Options

    func run() async throws {
        let answer = try await options.send(.get, "/api/incidents")
        let terminal = Terminal(isQuiet: true)
        let incidents = answer["incidents"]?.elements ?? []
        let shown = all ? incidents : incidents.filter { $0["state"]?.string != "closed" }
        let silences = answer["silences"]?.elements ?? []
        let works = answer["maintenance"]?.elements ?? []
        if options.json {
            let document: JSONValue = [
                "incidents": .array(shown), "silences": .array(silences), "maintenance": .array(works),
            ]
            return try terminal.output(json: document.bytes)
        }
        if shown.isEmpty { try terminal.output("no \(all ? "" : "open ")incidents\n") }
        let rows = shown.map { incident -> [TerminalText] in
            [
                incident.cell("id"), incident.cell("state"), incident.cell("severity"),
                "\(incident.streamCountText)", incident.cell("since"),
                incident.cell("by"), incident.cell("title"),
            ]
        }
        for line in ColumnTable(rows).lines { try terminal.output(line + "\n") }
        for silence in silences + works { try terminal.output(Self.line(of: silence) + "\n") }
    }

    private static func line(of silence: JSONValue) -> TerminalText {
        let matchers = (silence["matchers"]?.elements ?? []).map { matcher -> String in
            let sign = matcher["isRegex"] == .bool(true) ? "=~" : "="
            return (matcher["label"]?.string ?? "") + sign + "\"" + (matcher["value"]?.string ?? "") + "\""
        }
        let isWork = silence["kind"]?.string == "maintenance"
        let what = matchers.isEmpty ? "all streams" : matchers.joined(separator: " ")
        let begins = silence["begins"]?.string.map { "from \($0) " } ?? ""
        let times = begins + (silence["ends"]?.string.map { "until \($0)" } ?? "")
        let by = silence["isConfigured"] == .bool(true) ? "configuration" : silence["by"]?.string ?? ""
        let reason = (silence["reason"] ?? silence["name"])?.string ?? ""
        return
            "\(isWork ? "maintenance" : "silence") \(silence["id"]?.string ?? "")  \(what)  \(times)  \(by)  \(reason)"
    }
}

struct IncidentShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show one incident with its streams and its log."
    )

    @Argument(help: "Identifier of the incident.")
    var id: String

    @OptionGroup var options: IncidentsCommand.Options

    func run() async throws {
        let incident = try await options.send(.get, IncidentsCommand.path(id))
        let terminal = Terminal(isQuiet: true)
        if options.json { return try terminal.output(json: incident.bytes) }
        try terminal.output(incident.cell("title") + "\n")
        if incident["text"] != incident["title"] { try terminal.output(incident.cell("text") + "\n") }
        var rows: [[TerminalText]] = []
        for name in ["id", "state", "severity", "host", "since", "ended", "by", "until", "note"] {
            if incident[name]?.string != nil { rows.append([TerminalText(trusted: name), incident.cell(name)]) }
        }
        if let minutes = incident["viewerMinutes"]?.number { rows.append(["viewer minutes", "\(minutes)"]) }
        for line in ColumnTable(rows).lines { try terminal.output(line + "\n") }
        let members = (incident["members"]?.elements ?? []).map { member -> [TerminalText] in
            let ended = member["ended"]?.string.map { TerminalText("until " + $0) } ?? "fails"
            return ["  ", member.cell("stream"), member.cell("since"), ended, member.cell("address")]
        }
        let count = incident["streamCount"]?.int ?? 0
        try terminal.output(count > 0 ? "\(String(counting: count, "stream"))\n" : "in trouble\n")
        for line in ColumnTable(members).lines { try terminal.output(line + "\n") }
        let changes = incident["changes"]?.elements ?? []
        if !changes.isEmpty { try terminal.output("changed before\n") }
        for change in changes {
            let count = change["streams"]?.int ?? 1
            let streams: TerminalText = count > 1 ? "  (\(count) streams)" : ""
            try terminal.output("  " + change.cell("time") + "  " + change.cell("text") + streams + "\n")
        }
        for entry in incident["log"]?.elements ?? [] {
            try terminal.output(entry.cell("time") + "  " + entry.cell("text") + "\n")
        }
    }
}

struct IncidentAcknowledgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ack",
        abstract: "Take an incident: no reminders and no escalation, for a time or until it closes."
    )

    @Argument(help: "Identifier of the incident.")
    var id: String

    @Option(name: .customLong("for"), help: ArgumentHelp("Time until the incident is open again.", valueName: "time"))
    var length: DurationOption?

    @Option(help: "Remark for the others.")
    var note: String?

    @OptionGroup var person: IncidentsCommand.Person
    @OptionGroup var options: IncidentsCommand.Options

    func validate() throws { try length?.validatePositive("--for") }

    func run() async throws {
        var body: [String: JSONValue] = ["by": person.name]
        body["for"] = length.map { .string($0.requestText) }
        body["note"] = note.map { .string($0) }
        try await options.act(.post, IncidentsCommand.path(id, "acknowledge"), .object(body), done: "acknowledged")
    }
}

struct IncidentReleaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Give an acknowledged incident back: it is open again."
    )

    @Argument(help: "Identifier of the incident.")
    var id: String

    @OptionGroup var person: IncidentsCommand.Person
    @OptionGroup var options: IncidentsCommand.Options

    func run() async throws {
        try await options.act(.post, IncidentsCommand.path(id, "release"), ["by": person.name], done: "released")
    }
}

struct IncidentCloseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "close",
        abstract: "Close an incident, also while its streams fail; it opens again if the cause returns."
    )

    @Argument(help: "Identifier of the incident.")
    var id: String

    @OptionGroup var person: IncidentsCommand.Person
    @OptionGroup var options: IncidentsCommand.Options

    func run() async throws {
        try await options.act(.post, IncidentsCommand.path(id, "close"), ["by": person.name], done: "closed")
    }
}

struct IncidentSilenceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "silence",
        abstract: "Send no messages about some streams for a time."
    )

    @Argument(
        help: ArgumentHelp(
            """
            Label and value, as cdn=alpha, or label and expression, as 'stream=~news-.*'; all of them must match. Labels are those \
            of the stream, stream, host and alert.
            """,
            valueName: "matcher"
        )
    )
    var matchers: [String]

    @Option(name: .customLong("for"), help: ArgumentHelp("How long the silence lasts.", valueName: "time"))
    var length: DurationOption

    @Option(help: "Reason, for the others.")
    var reason: String?

    @OptionGroup var person: IncidentsCommand.Person
    @OptionGroup var options: IncidentsCommand.Options

    func validate() throws {
        try length.validatePositive("--for")
        try Self.validate(matchers)
    }

    static func validate(_ matchers: [String]) throws {
        for matcher in matchers where document(of: matcher) == nil {
            throw ValidationError("a matcher must be LABEL=VALUE or LABEL=~EXPRESSION (found '\(matcher)')")
        }
    }

    func run() async throws {
        var body: [String: JSONValue] = [
            "by": person.name, "for": .string(length.requestText),
            "matchers": .array(matchers.compactMap { Self.document(of: $0) }),
        ]
        body["reason"] = reason.map { .string($0) }
        try await options.act(.post, "/api/silences", .object(body), done: "silence")
    }

    /// Reads `cdn=alpha`, `cdn="alpha"`, `cdn=~al.*`.
    static func document(of text: String) -> JSONValue? {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex else { return nil }
        var value = text[text.index(after: equals)...]
        let isRegex = value.hasPrefix("~")
        if isRegex { value = value.dropFirst() }
        if value.count >= 2, value.hasPrefix("\""), value.hasSuffix("\"") { value = value.dropFirst().dropLast() }
        return ["label": .string(String(text[..<equals])), "value": .string(String(value)), "isRegex": .bool(isRegex)]
    }
}

struct IncidentUnsilenceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "unsilence", abstract: "End a silence now.")

    @Argument(help: "Identifier of the silence.")
    var id: String

    @OptionGroup var options: IncidentsCommand.Options

    func run() async throws {
        try await options.act(.delete, "/api/silences/" + PercentCoding.encoded(id), nil, done: "ended silence")
    }
}

struct IncidentMaintainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "maintain",
        abstract: "Begin or plan work on some streams: no messages about them for a time."
    )

    @Argument(
        help: ArgumentHelp(
            "Label and value, or label and expression, as for silence; without one, the work is on all streams.",
            valueName: "matcher"
        )
    )
    var matchers: [String] = []

    @Option(help: "What the work is, for the others.")
    var name: String

    @Option(name: .customLong("for"), help: ArgumentHelp("How long the work lasts.", valueName: "time"))
    var length: DurationOption

    @Option(help: ArgumentHelp("Begin, as 2026-12-01T16:00:00Z; without it, now.", valueName: "time"))
    var begin: String?

    @OptionGroup var person: IncidentsCommand.Person
    @OptionGroup var options: IncidentsCommand.Options

    func validate() throws {
        try length.validatePositive("--for")
        try IncidentSilenceCommand.validate(matchers)
        if let begin, WallTime(rfc3339: begin) == nil {
            throw ValidationError("--begin must be a time such as 2026-12-01T16:00:00Z (found '\(begin)')")
        }
    }

    func run() async throws {
        var body: [String: JSONValue] = [
            "by": person.name, "for": .string(length.requestText), "name": .string(name),
        ]
        if !matchers.isEmpty {
            body["matchers"] = .array(matchers.compactMap { IncidentSilenceCommand.document(of: $0) })
        }
        body["begin"] = begin.map { .string($0) }
        try await options.act(.post, "/api/maintenance", .object(body), done: "maintenance")
    }
}

struct IncidentEndMaintenanceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "end-maintenance",
        abstract: "End planned work now, or call it off; a window of the configuration ends for this time only."
    )

    @Argument(help: "Identifier of the work.")
    var id: String

    @OptionGroup var options: IncidentsCommand.Options

    func run() async throws {
        try await options.act(.delete, "/api/maintenance/" + PercentCoding.encoded(id), nil, done: "ended maintenance")
    }
}

struct IncidentLogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "List who did what: the latest actions of persons, the latest first."
    )

    @OptionGroup var options: IncidentsCommand.Options

    func run() async throws {
        let answer = try await options.send(.get, "/api/audit")
        let terminal = Terminal(isQuiet: true)
        if options.json { return try terminal.output(json: answer.bytes) }
        let rows = (answer["audit"]?.elements ?? []).map { entry -> [TerminalText] in
            ["time", "by", "action", "target", "text"].map { entry.cell($0) }
        }
        for line in ColumnTable(rows).lines { try terminal.output(line + "\n") }
    }
}

extension JSONValue {
    /// The text of a member, safe for a terminal; empty without one.
    fileprivate func cell(_ name: String) -> TerminalText { TerminalText(self[name]?.string ?? "") }

    /// The number of streams of an incident; a dash for one of a receiver, a place, a budget or the browser.
    var streamCountText: String {
        let count = self["streamCount"]?.int ?? 0
        return count > 0 ? String(counting: count, "stream") : "–"
    }
}

extension DurationOption {
    /// The duration as the monitor reads it.
    fileprivate var requestText: String { "\(duration.milliseconds)ms" }
}
