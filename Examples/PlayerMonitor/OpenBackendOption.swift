internal import ArgumentParser
internal import Instrument
internal import InstrumentCMCDBackend
internal import InstrumentCommandLine
internal import InstrumentGraphite
internal import InstrumentInflux
internal import InstrumentKafka
internal import InstrumentNATS
internal import InstrumentNewRelic
internal import InstrumentOTLP
internal import InstrumentTerminal
internal import InstrumentTransport

/// A backend of a system that operators run already, as given on the command line.
enum OpenBackendOption: Hashable {
    case influx(HTTPURL)
    case graphite(GraphiteAddress, prefix: [String])
    case newRelic(NewRelicEndpoint)
    case cmcd(HTTPURL)
    case otlp(HTTPURL)
    case kafka(String)
    case nats(String)

    /// - Parameters:
    ///   - name: the text in front of the colon.
    ///   - address: the text behind the colon.
    init?(_ name: String, _ address: String) {
        switch name {
        case "influx":
            guard let url = try? HTTPURL(address), (try? InfluxEndpoint(parameters: url)) != nil else { return nil }
            self = .influx(url)
        case "graphite":
            let parts = address.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let host = parts.first, let server = GraphiteAddress(host) else { return nil }
            let prefix = parts.dropFirst().first?.split(separator: ".").map(String.init) ?? []
            self = .graphite(server, prefix: prefix.isEmpty ? GraphiteMapping().prefix : prefix)
        case "newrelic":
            guard let endpoint = Self.newRelic(address) else { return nil }
            self = .newRelic(endpoint)
        case "cmcd":
            guard let url = try? HTTPURL(address) else { return nil }
            self = .cmcd(url)
        case "otlp":
            guard let url = try? HTTPURL(address) else { return nil }
            self = .otlp(url)
        case "kafka":
            // Checked with a login, because the parameters may name its mechanism.
            guard (try? KafkaEndpoint(address, login: ("", ""))) != nil else { return nil }
            self = .kafka(address)
        case "nats":
            guard (try? NATSEndpoint(address)) != nil else { return nil }
            self = .nats(address)
        default: return nil
        }
    }

    /// `ACCOUNT`, `ACCOUNT@REGION` or `ACCOUNT@URL`.
    private static func newRelic(_ text: String) -> NewRelicEndpoint? {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let account = parts.first else { return nil }
        guard let place = parts.dropFirst().first else { return try? NewRelicEndpoint(accountID: account) }
        if let region = NewRelicEndpoint.Region(rawValue: place) {
            return try? NewRelicEndpoint(accountID: account, region: region)
        }
        guard let url = try? HTTPURL(place) else { return nil }
        return try? NewRelicEndpoint(accountID: account, server: url)
    }

    /// Creates the backend. Exits with code 2 if the backend cannot be created.
    func make(_ services: ServiceOptions, _ terminal: Terminal) throws -> any Backend {
        let report: @Sendable (Diagnostic) -> Void = { terminal.note("player-monitor: \($0)") }
        do {
            switch self {
            case .influx(let url): return try influx(url, services, report)
            case .graphite(let address, let prefix):
                let mapping = GraphiteMapping(prefix: prefix)
                let configuration = GraphiteConfiguration(mapping: { mapping($0) })
                return GraphiteBackend(address, configuration: configuration, report: report)
            case .newRelic(let endpoint):
                guard let credentials = services.credentials(for: .newrelic) else {
                    throw ValidationError("newrelic requires --credentials-from")
                }
                let key = try credentials.secret()
                return try NewRelicBackend(endpoint, key: key, transport: services.transport(), report: report)
            case .cmcd(let url): return try CMCDBackend(url, transport: services.transport(), report: report)
            case .otlp(let url):
                var configuration = OTLPConfiguration(resource: [OTLPLog.Attribute("service.name", "player-monitor")])
                if let pair = try services.credentials(for: .otlp)?.pair() {
                    try configuration.headers.add(pair.name, pair.secret, isSecret: true)
                }
                return try OTLPBackend(url, configuration: configuration, transport: services.transport())
            case .kafka(let text):
                let login = try services.credentials(for: .kafka)?.pair()
                return try KafkaBackend(KafkaEndpoint(text, login: login.map { ($0.name, $0.secret) }))
            case .nats(let text):
                let login = try services.credentials(for: .nats).map { try NATSLogin(parsing: $0.text()) }
                return try NATSBackend(NATSEndpoint(text, login: login))
            }
        } catch let error as NATSError {
            throw ValidationError(error.description)
        } catch let error as KafkaError {
            throw ValidationError(error.description)
        } catch let error as HTTPError {
            throw ValidationError(error.description)
        }
    }

    /// User and password for a database, a token for a bucket.
    private func influx(
        _ url: HTTPURL,
        _ services: ServiceOptions,
        _ report: @escaping @Sendable (Diagnostic) -> Void
    ) throws -> any Backend {
        let isFirstVersion = url.queryValue(named: "db")?.isEmpty == false
        let credentials = try services.credentials(for: .influx).map { option -> InfluxEndpoint.Credentials in
            if !isFirstVersion { return .token(try option.secret()) }
            let pair = try option.pair()
            return .basic(user: pair.name, password: pair.secret)
        }
        let endpoint = try InfluxEndpoint(parameters: url, credentials: credentials)
        return try InfluxBackend(endpoint, transport: services.transport(), report: report)
    }
}
