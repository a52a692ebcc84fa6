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
internal import InstrumentText
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

    /// The kinds of backends: the text in front of the colon.
    static let kinds = ["influx", "graphite", "newrelic", "cmcd", "otlp", "kafka", "nats"]

    /// Reads the address of one of ``kinds``. The error names what is missing.
    ///
    /// - Parameters:
    ///   - kind: the text in front of the colon.
    ///   - address: the text behind the colon.
    init(_ kind: String, _ address: String) throws(ValidationError) {
        switch kind {
        case "influx": self = .influx(try Self.influx(address))
        case "graphite": self = try Self.graphite(address)
        case "newrelic": self = .newRelic(try Self.newRelic(address))
        case "cmcd": self = .cmcd(try BackendOption.url(kind, address))
        case "otlp": self = .otlp(try BackendOption.url(kind, address))
        case "kafka": self = .kafka(try Self.kafka(address))
        default: self = .nats(try Self.nats(address))
        }
    }

    private static func influx(_ address: String) throws(ValidationError) -> HTTPURL {
        let url = try BackendOption.url("influx", address)
        do throws(HTTPError) { _ = try InfluxEndpoint(parameters: url) } catch {
            throw ValidationError(
                "influx needs the name of the database in the address: add ?db=NAME, or ?org=NAME&bucket=NAME for version 2 or later"
            )
        }
        return url
    }

    private static func graphite(_ address: String) throws(ValidationError) -> OpenBackendOption {
        let (host, rest) = address.split(at: "/")
        guard !host.isEmpty, let server = GraphiteAddress(String(host)) else {
            let found = host.isEmpty ? "nothing" : "'\(host)'"
            throw ValidationError("graphite needs HOST or HOST:PORT, such as graphite:127.0.0.1:2003 (found \(found))")
        }
        let prefix = rest?.split(separator: ".").map(String.init) ?? []
        return .graphite(server, prefix: prefix.isEmpty ? GraphiteMapping().prefix : prefix)
    }

    /// Checks the brokers, the topic and the parameters; a login is checked later.
    private static func kafka(_ address: String) throws(ValidationError) -> String {
        if address.split(at: "?").before.split(at: "/").after?.isEmpty ?? true {
            throw ValidationError("kafka needs the topic behind the brokers, such as kafka:127.0.0.1:9092/TOPIC")
        }
        // Checked with a login, because the parameters may name its mechanism.
        do throws(KafkaError) { _ = try KafkaEndpoint(address, login: ("", "")) } catch {
            throw ValidationError("kafka: \(error.description)")
        }
        return address
    }

    private static func nats(_ address: String) throws(ValidationError) -> String {
        if address.split(at: "?").before.split(at: "/").after?.isEmpty ?? true {
            throw ValidationError("nats needs the subject behind the servers, such as nats:127.0.0.1/SUBJECT")
        }
        do throws(NATSError) { _ = try NATSEndpoint(address) } catch {
            throw ValidationError("nats: \(error.description)")
        }
        return address
    }

    /// `ACCOUNT`, `ACCOUNT@REGION` or `ACCOUNT@URL`.
    private static func newRelic(_ text: String) throws(ValidationError) -> NewRelicEndpoint {
        let (account, rest) = text.split(at: "@")
        if account.isEmpty {
            throw ValidationError(
                "newrelic needs the number of the account, such as newrelic:1234567 or newrelic:1234567@eu"
            )
        }
        do throws(HTTPError) {
            guard let place = rest.map(String.init) else { return try NewRelicEndpoint(accountID: String(account)) }
            if let region = NewRelicEndpoint.Region(rawValue: place) {
                return try NewRelicEndpoint(accountID: String(account), region: region)
            }
            guard place.contains(":") || place.contains(".") else {
                let known = NewRelicEndpoint.Region.allCases.map(\.rawValue).joined(separator: " or ")
                throw HTTPError(.invalidURL, "the region must be \(known), or an address (found '\(place)')")
            }
            let server = try HTTPURL(place)
            return try NewRelicEndpoint(accountID: String(account), server: server)
        } catch {
            throw ValidationError("newrelic: \(error.message)")
        }
    }

    /// Creates the backend. Exits with code 2 if the backend cannot be created.
    func make(_ services: ServiceOptions, _ terminal: Terminal) throws -> any Backend {
        let report: @Sendable (Diagnostic) -> Void = { terminal.note($0) }
        do {
            switch self {
            case .influx(let url): return try influx(url, services, report)
            case .graphite(let address, let prefix):
                let mapping = GraphiteMapping(prefix: prefix)
                let configuration = GraphiteConfiguration(mapping: { mapping($0) })
                return GraphiteBackend(address, configuration: configuration, report: report)
            case .newRelic(let endpoint):
                guard let credentials = services.credentials(for: .newrelic) else {
                    throw ServiceOptions.missing(.newrelic)
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
