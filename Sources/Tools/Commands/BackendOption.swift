internal import ArgumentParser
internal import Instrument
internal import InstrumentBackends
internal import InstrumentClickstream
internal import InstrumentCommandLine
internal import InstrumentSift
internal import InstrumentTerminal
internal import InstrumentText
internal import InstrumentTransport

/// A backend, as given on the command line.
enum BackendOption: Hashable {
    case console
    case json
    case file(path: String)
    case clickstream(HTTPURL)
    case sift(SiftEndpoint)
    case xapi(HTTPURL)
    case seer(HTTPURL)
    case open(OpenBackendOption)

    /// The kinds of backends: the text in front of the colon.
    private static let kinds =
        ["console", "json", "file", "clickstream", "sift", "xapi", "seer"] + OpenBackendOption.kinds

    /// Reads `KIND` or `KIND:ADDRESS`. The error names what is missing.
    init(parsing argument: String) throws(ValidationError) {
        let (kind, rest) = argument.split(at: ":")
        let address = rest.map(String.init)
        switch kind {
        case "console": self = try Self.withoutAddress(.console, kind, address)
        case "json": self = try Self.withoutAddress(.json, kind, address)
        case "file":
            guard let address, !address.isEmpty else {
                throw ValidationError("file needs a path, such as file:samples.ndjson")
            }
            self = .file(path: address)
        case "clickstream": self = .clickstream(try Self.url(kind, address))
        case "sift": self = .sift(try Self.sift(address))
        case "xapi": self = .xapi(try Self.url(kind, address))
        case "seer": self = .seer(try Self.url(kind, address))
        case let kind where OpenBackendOption.kinds.contains(String(kind)):
            self = .open(try OpenBackendOption(String(kind), address ?? ""))
        default: throw Self.unknown(String(kind))
        }
    }

    /// The same for the `transform` of an option. The error repeats parts of the argument, which must not add a line.
    @Sendable static func read(_ argument: String) throws -> BackendOption {
        do throws(ValidationError) { return try BackendOption(parsing: argument) } catch {
            throw ValidationError(TerminalText(error.message).string)
        }
    }

    /// The address of a service.
    static func url(_ kind: some StringProtocol, _ address: String?) throws(ValidationError) -> HTTPURL {
        try Address.read(address ?? "", of: String(kind), prefix: "\(kind):")
    }

    private static func withoutAddress(
        _ option: BackendOption,
        _ kind: Substring,
        _ address: String?
    ) throws(ValidationError) -> BackendOption {
        if let address {
            throw ValidationError("\(kind) writes to standard output and takes no address (found '\(address)')")
        }
        return option
    }

    private static func sift(_ address: String?) throws(ValidationError) -> SiftEndpoint {
        if let address, let format = try? SiftEndpoint(format: address) { return format }
        let url = try url("sift", address)
        do throws(HTTPError) { return try SiftEndpoint(origin: url.secretText) } catch {
            throw ValidationError("sift: \(error.message)")
        }
    }

    private static func unknown(_ kind: String) -> ValidationError {
        if kind == "http" || kind == "https" {
            return ValidationError(
                "the kind of the service must be in front of its address, as in xapi:https://example.org"
            )
        }
        if let nearest = Suggestion.nearest(to: kind, in: kinds) {
            return ValidationError("there is no backend '\(kind)'; did you mean '\(nearest)'?")
        }
        return ValidationError("there is no backend '\(kind)'; the backends are \(kinds.joined(separator: ", "))")
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
            let compression = FileConfiguration.Compression(path: path)
            do {
                return try FileBackend(path: path, configuration: FileConfiguration(compression: compression))
            } catch {
                throw ValidationError(error.description)
            }
        }
    }

    static let help = ArgumentHelp(
        "Destination of the samples; may be repeated. One of:",
        discussion: """
            console: readable lines on standard output
            json: JSON lines on standard output
            file:PATH: JSON lines in a file, compressed if PATH ends in .gz
            clickstream:URL: a clickstream collector
            sift:URL: Sift; needs --credentials-from
            xapi:URL: endpoint of a learning record store (LRS)
            seer:URL: the Seer service; needs --credentials-from
            influx:URL: InfluxDB; the URL has ?db=NAME, or ?org=NAME&bucket=NAME
            graphite:HOST[:PORT][/PREFIX]
            newrelic:ACCOUNT, newrelic:ACCOUNT@eu or newrelic:ACCOUNT@URL: needs --credentials-from
            cmcd:URL: collector of CMCD event reports
            otlp:URL: OpenTelemetry over HTTP
            kafka:HOST:PORT[,HOST:PORT…]/TOPIC: with ?tls, &ca=FILE, &sasl=MECHANISM as needed
            nats:HOST[:PORT][,HOST…]/SUBJECT: JetStream; with ?tls, &ca=FILE as needed
            """,
        valueName: "backend"
    )
}
