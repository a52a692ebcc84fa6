internal import InstrumentTerminal

#if os(Linux)
internal import InstrumentCommandLine
internal import ArgumentParser
internal import Instrument
internal import InstrumentJSON
internal import InstrumentSensors

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The format of results.
enum TableFormat: String, ExpressibleByArgument, CaseIterable { case text, json }

/// `player-monitor sensors`: prints the readings of this machine's sensors.
struct SensorsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sensors",
        abstract: "Show the readings of this machine's sensors, with units, and the absent sensors.",
        discussion: "All sensors are read, including those that are off by default. No reading is sent or stored."
    )

    @Flag(help: "Repeat every second until Ctrl-C: refresh a terminal, append lines to a pipe.")
    var watch = false

    @Option(help: "Root folder of /sys and /proc.")
    var root = "/"

    @Option(help: "Address of a gpsd for position and heading, as HOST:PORT.", transform: Self.address)
    var gpsd: GPSDAddress?

    @Option(help: "Output format: 'text', or 'json' for one object per line.")
    var format: TableFormat = .text

    func run() async throws {
        let choices = SensorChoices()
        try choices.set(SensorKind.all, allowed: true)
        let sensors = Sensors.linux(root: root, gpsd: gpsd, choices: choices)
        let table = SensorTable(sensors: sensors, reachability: NetworkReachability(root: root))
        let terminal = Terminal(isQuiet: true)
        let runs = table.listen()
        defer { for run in runs { run.stop() } }
        // gpsd sends its first report after a moment.
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
                let isShown = format == .text && StandardOutput.isTerminal
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
        throw ValidationError("--gpsd must have the form HOST:PORT (found '\(text)')")
    }
}

/// `player-monitor device`: prints this machine's properties.
struct DeviceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "Show this machine's properties as a backend would receive them; no property is sent or stored."
    )

    @Option(help: "Root folder of /sys, /proc and /etc.")
    var root = "/"

    @Option(help: "Output format: 'text', or 'json' for one object.")
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
