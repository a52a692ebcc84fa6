#if os(Linux)
internal import ArgumentParser
internal import Instrument
internal import InstrumentJSON
internal import InstrumentSensors
internal import InstrumentTerminal

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// How results are written.
enum TableFormat: String, ExpressibleByArgument, CaseIterable { case text, json }

/// `player-monitor sensors`: what this machine's sensors say.
struct SensorsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sensors",
        abstract: "Shows this machine's sensors: values, units, and what is absent.",
        discussion: "Everything is read for you to see, also what is off by default; nothing is sent or kept."
    )

    @Flag(help: "Go on: refresh on a terminal, print lines when piped; Ctrl-C ends it.")
    var watch = false

    @Option(help: "Where /sys and /proc are.")
    var root = "/"

    @Option(help: "A gpsd to ask for position and heading, as HOST:PORT.", transform: Self.address)
    var gpsd: GPSDAddress?

    @Option(help: "'text', or 'json' for one object a line.")
    var format: TableFormat = .text

    func run() async throws {
        let choices = SensorChoices()
        try choices.set(SensorKind.all, allowed: true)
        let sensors = Sensors.linux(root: root, gpsd: gpsd, choices: choices)
        let table = SensorTable(sensors: sensors, reachability: NetworkReachability(root: root))
        let terminal = Terminal(isQuiet: true)
        let runs = table.listen()
        defer { for run in runs { run.stop() } }
        // A daemon takes a moment to say something.
        if gpsd != nil { try await Task.sleep(for: .seconds(2)) }
        guard watch else {
            try terminal.output(text(of: table))
            return
        }
        let (stops, stop) = AsyncStream.makeStream(of: Void.self)
        StopSignals.report { stop.yield() }
        terminal.whenOutputCloses { stop.yield() }
        let drawing = Task {
            while !Task.isCancelled {
                let isShown = format == .text && isatty(STDOUT_FILENO) == 1
                do {
                    try terminal.output((isShown ? "\u{1B}[H\u{1B}[2J" : "") + text(of: table))
                } catch {
                    stop.yield()
                    throw error
                }
                // Cancelled at the end.
                guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
            }
        }
        for await _ in stops { break }
        drawing.cancel()
        try await drawing.value
    }

    private func text(of table: SensorTable) -> TerminalText {
        let rows = table.rows()
        switch format {
        case .json:
            return TerminalText(json: JSONValue.object(Dictionary(rows.map { ($0.name, $0.json) }) { $1 }).bytes) + "\n"
        case .text:
            let width = rows.map(\.name.count).max() ?? 0
            return rows.map { TerminalText($0.name).padded(toColumns: width + 2) + "\($0.text)\n" }.joined()
        }
    }

    private static func address(_ text: String) throws -> GPSDAddress {
        if let address = GPSDAddress(text) { return address }
        throw ValidationError("a gpsd is given as HOST:PORT")
    }
}

/// `player-monitor device`: what this machine says it is.
struct DeviceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "Shows this machine's properties as they would be sent; nothing is sent or kept."
    )

    @Option(help: "Where /sys, /proc and /etc are.")
    var root = "/"

    @Option(help: "'text', or 'json' for one object.")
    var format: TableFormat = .text

    func run() throws {
        let properties = LinuxDeviceReader(root: root).properties()
        let attributes = properties.attributes
        let terminal = Terminal(isQuiet: true)
        if format == .json {
            try terminal.output(json: JSONValue(attributes).bytes)
            return
        }
        for field in DeviceProperties.fields {
            let value = attributes[AttributeName(field.name)].map {
                $0.description + (field.unit.map { " " + $0 } ?? "")
            }
            try terminal.output("\(field.name): \(value ?? "not known")\n")
        }
    }
}
#endif
