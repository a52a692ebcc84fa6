internal import ArgumentParser
internal import Instrument
internal import InstrumentBackends
internal import InstrumentClickstream
internal import InstrumentCommandLine
internal import InstrumentSift
internal import InstrumentTerminal
internal import InstrumentTransport

/// A backend, as given on the command line.
enum BackendOption: ExpressibleByArgument, Hashable {
    case console
    case json
    case file(path: String)
    case clickstream(HTTPURL)
    case sift(SiftEndpoint)
    case xapi(HTTPURL)
    case seer(HTTPURL)
    case open(OpenBackendOption)

    init?(argument: String) {
        let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch (parts.first, parts.dropFirst().first) {
        case (_, ""?): return nil
        case ("console", nil): self = .console
        case ("json", nil): self = .json
        case ("file", let path?): self = .file(path: path)
        case ("clickstream", let address?):
            guard let url = try? HTTPURL(address) else { return nil }
            self = .clickstream(url)
        case ("sift", let address?):
            let format = try? SiftEndpoint(format: address)
            guard let endpoint = try? format ?? SiftEndpoint(origin: address) else { return nil }
            self = .sift(endpoint)
        case ("xapi", let address?):
            guard let url = try? HTTPURL(address) else { return nil }
            self = .xapi(url)
        case ("seer", let address?):
            guard let url = try? HTTPURL(address) else { return nil }
            self = .seer(url)
        case (let name?, let address?):
            guard let option = OpenBackendOption(name, address) else { return nil }
            self = .open(option)
        default: return nil
        }
    }

    /// Creates the backends. Exits with code 2 if a backend cannot be created, or if two would share a place in
    /// the queue.
    static func make(
        _ wishes: [BackendOption],
        _ terminal: Terminal,
        _ services: ServiceOptions,
        queue: String?
    ) throws -> [any Backend] {
        let made = try wishes.map { try $0.make(terminal, services, queue: queue) }
        for (name, same) in Dictionary(grouping: made, by: \.name) where same.count > 1 {
            throw ValidationError("the backend '\(name)' must be given only once; start another run for the other one")
        }
        return made
    }

    /// Creates the backend. Exits with code 2 if the backend cannot be created.
    func make(_ terminal: Terminal, _ services: ServiceOptions, queue: String?) throws -> any Backend {
        switch self {
        case .clickstream(let url): return try services.clickstream(url)
        case .sift(let endpoint): return try services.sift(endpoint, queue: queue, terminal)
        case .xapi(let url): return try services.xapi(url, queue: queue, terminal)
        case .seer(let url): return try services.seer(url)
        case .open(let option): return try option.make(services, terminal)
        case .console:
            let isColored = StandardOutput.isColored
            return ConsoleBackend(format: .text(colored: isColored)) { terminal.write(escaped: $0) }
        case .json: return ConsoleBackend(name: "json", format: .jsonLines) { terminal.write(escaped: $0) }
        case .file(let path):
            let compression: FileConfiguration.Compression = path.hasSuffix(".gz") ? .gzip : .none
            do {
                return try FileBackend(path: path, configuration: FileConfiguration(compression: compression))
            } catch {
                throw ValidationError(error.description)
            }
        }
    }

    static let help: ArgumentHelp = """
        Destination of the samples: 'console' (readable lines), 'json' (JSON lines on standard output), 'file:PATH' (JSON lines in \
        a file; compressed if PATH ends in .gz), 'clickstream:URL', 'sift:URL' (requires --credentials-from), 'xapi:URL' (endpoint \
        of an LRS), 'seer:URL' (Seer service; requires --credentials-from), 'influx:URL' (InfluxDB; the URL has ?db=NAME, or \
        ?org=NAME&bucket=NAME), 'graphite:HOST[:PORT][/PREFIX]', 'newrelic:ACCOUNT', 'newrelic:ACCOUNT@eu' or 'newrelic:ACCOUNT@URL' \
        (requires --credentials-from), 'cmcd:URL' (collector of CMCD event reports), 'otlp:URL' (OpenTelemetry over HTTP), \
        'kafka:HOST:PORT[,HOST:PORT…]/TOPIC' (with '?tls', '&ca=FILE', '&sasl=MECHANISM' as needed), \
        'nats:HOST[:PORT][,HOST…]/SUBJECT' (JetStream; with '?tls', '&ca=FILE' as needed). May be repeated.
        """
}
