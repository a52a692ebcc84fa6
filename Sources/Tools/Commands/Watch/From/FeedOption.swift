internal import ArgumentParser
internal import Instrument
internal import InstrumentBackendKinds
internal import InstrumentCommandLine
internal import InstrumentHTTP
internal import InstrumentKafka
internal import InstrumentMonitorRuntime
internal import InstrumentNATS
internal import InstrumentTerminal
internal import InstrumentText

/// Where the reading of a source begins, if no position is kept.
enum FeedStart: Hashable, Sendable {
    /// With what arrives from now on.
    case latest
    /// With what has arrived since a time.
    case since(WallTime)

    /// Reads `latest`, a duration or a time, for the `transform` of an option.
    @Sendable static func read(_ argument: String) throws -> FeedStart {
        if argument == "latest" { return .latest }
        if let time = WallTime(rfc3339: argument) { return .since(time) }
        guard let duration = DurationText.duration(argument), duration > .zero else {
            throw ValidationError(
                "--since must be 'latest', a time such as 10m, or an instant such as 2026-11-21T10:00:00Z "
                    + "(found '\(TerminalText(argument).string)')"
            )
        }
        let now = SystemClock().wallTime.milliseconds
        return .since(WallTime(milliseconds: now.saturatingSubtract(Int64(duration.milliseconds))))
    }
}

/// Why a source of samples cannot be used.
struct FeedOptionError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The source of `--from`.
struct FeedOption: Sendable {
    private enum Source: Sendable {
        case kafka(String)
        case nats(String)
        case clickhouse(ClickHouseAddress)
    }

    private let source: Source
    /// The source for people, without secrets.
    let name: String

    /// Reads `kafka:…`, `nats:…` or `clickhouse:…`, also with `//` behind the colon. Exits with code 2 for another
    /// text.
    static func read(_ argument: String) throws -> FeedOption {
        do { return try FeedOption(argument) } catch { throw ValidationError(TerminalText("--from: \(error)").string) }
    }

    private init(_ argument: String) throws {
        let (kind, rest) = argument.split(at: ":")
        var address = String(rest ?? "")
        switch kind {
        case "kafka", "nats":
            if address.hasPrefix("//") { address.removeFirst(2) }
            // No error and no list of processes shows a password.
            if address.split(at: "?").before.contains("@") {
                throw FeedOptionError("\(kind) takes no user in the address; use --credentials-from")
            }
            if kind == "kafka" {
                _ = try KafkaEndpoint(address, login: ("", ""))
                source = .kafka(address)
            } else {
                _ = try NATSEndpoint(address)
                source = .nats(address)
            }
            name = "\(kind):\(address.split(at: "?").before)"
        case "clickhouse":
            if address.hasPrefix("//") { address = "http:" + address }
            let table = try ClickHouseAddress(address)
            (source, name) = (.clickhouse(table), table.name)
        default:
            throw FeedOptionError(
                "a source must be kafka:HOST:PORT/TOPIC, nats:HOST/SUBJECT or clickhouse:http://HOST:8123/?table=samples "
                    + "(found '\(kind)')"
            )
        }
    }

    /// Makes the source.
    /// - Parameters:
    ///   - credentials: the option with the credentials.
    ///   - start: where reading begins.
    ///   - position: where the position is kept; nil without `--state`.
    func make(
        _ credentials: CredentialsOption?,
        since start: FeedStart,
        position: FeedPosition?,
        transport: any HTTPTransport
    ) throws -> any SampleFeed {
        do {
            switch source {
            case .kafka(let address):
                let pair = try secret(credentials, "USER:PASSWORD")?.pair()
                let login = pair.map { (user: $0.name, password: $0.secret) }
                return try KafkaFeed(
                    KafkaEndpoint(address, login: login),
                    name: name,
                    since: start,
                    position: position
                )
            case .nats(let address):
                let form = "USER:PASSWORD, a token, a seed, or the text of a credentials file"
                let login = try secret(credentials, form).map { try NATSLogin(parsing: $0.text()) }
                return try NATSFeed(NATSEndpoint(address, login: login), name: name, since: start, position: position)
            case .clickhouse(let address):
                return ClickHouseFeed(
                    address,
                    transport: transport,
                    login: try secret(credentials, "USER:PASSWORD")?.pair(),
                    since: start,
                    position: position
                )
            }
        } catch {
            throw ValidationError(TerminalText("--from: \(error)").string)
        }
    }

    private func secret(_ option: CredentialsOption?, _ form: String) -> BackendCredentials? {
        option.map {
            BackendCredentials($0.divided(byPrefixesOf: []).source, namedBy: "--credentials-from", form: form)
        }
    }
}
