internal import ArgumentParser
internal import Instrument
internal import InstrumentClickstream
internal import InstrumentCommandLine
internal import InstrumentSeer
internal import InstrumentSift
internal import InstrumentTerminal
internal import InstrumentTransport
internal import InstrumentXAPI

/// The options of backends that send over the network.
struct ServiceOptions: ParsableArguments {
    @Option(
        name: .customLong("credentials-from"),
        help: ArgumentHelp(
            """
            Source of the credentials (ACCOUNT:KEY for 'sift', USER:PASSWORD for 'xapi', CLIENT:SECRET for 'seer', USER:PASSWORD \
            or a token for 'influx', a license key for 'newrelic', HEADER:VALUE for 'otlp', USER:PASSWORD for \
            'kafka', USER:PASSWORD, a token, a seed or a credentials file for 'nats'): the name of an environment variable, \
            or 'file:PATH'. A prefix such as 'sift=' limits them to that backend. May be repeated. Never the credentials themselves, which other users could see in the list of processes.
            """,
            valueName: "variable-or-file"
        )
    )
    var credentials: [CredentialsOption] = []

    /// The credentials of the service, otherwise those without a service.
    func credentials(for service: CredentialsOption.Service) -> CredentialsOption? {
        credentials.last { $0.service == service } ?? credentials.last { $0.service == nil }
    }

    func clickstream(_ url: HTTPURL) throws -> any Backend {
        do {
            let delegate = CommandLineDelegate(endpoint: url)
            return try ClickstreamBackend(delegate: delegate, transport: SystemTransport())
        } catch {
            throw ValidationError(error.description)
        }
    }

    /// The installation's identifier is stored beside the queue; without a queue, every run has a new one.
    func sift(_ endpoint: SiftEndpoint, queue: String?, _ terminal: Terminal) throws -> any Backend {
        guard let credentials = credentials(for: .sift) else {
            throw ValidationError("sift requires --credentials-from")
        }
        let (account, key) = try credentials.pair()
        guard let pair = SiftCredentials(accountID: account, beaconKey: key) else { throw CredentialsOption.noPair }
        let file = queue.map { SiftSettingsFile(path: $0 + "/sift.json") }
        return SiftBackend(
            SiftConfiguration(endpoint: endpoint),
            credentials: pair,
            transport: try transport(),
            settings: file ?? SiftSettingsMemory(),
            report: { terminal.note("player-monitor: \($0)") }
        )
    }

    /// Sends statements of the video profile about one viewer, the command line. The viewing history is stored
    /// beside the queue.
    func xapi(_ endpoint: HTTPURL, queue: String?, _ terminal: Terminal) throws -> any Backend {
        let pair = try credentials(for: .xapi)?.pair()
        let memory: any XAPIStateStore = queue.map { FileStateStore(root: $0 + "/xapi") } ?? InMemoryStateStore()
        return XAPIBackend(
            XAPIConfiguration(
                endpoint: endpoint,
                credentials: pair.map { .basic(user: $0.name, password: $0.secret) }
            ),
            mapping: VideoMapping(viewings: Self.viewings(at: endpoint)),
            transport: try transport(),
            memory: memory,
            report: { terminal.note("player-monitor: \($0)") }
        )
    }

    /// Sends Tin Can statements in Seer's format.
    func seer(_ baseURL: HTTPURL) throws -> any Backend {
        guard let pair = try credentials(for: .seer)?.pair() else {
            throw ValidationError("seer requires --credentials-from")
        }
        let mapping = SeerMapping(appID: "player-monitor", viewings: Self.viewings(at: baseURL))
        return SeerBackend(
            SeerConfiguration(baseURL: baseURL),
            credentials: SeerCredentials(clientID: pair.name, clientSecret: pair.secret),
            transport: try transport(),
            mapping: { mapping($0) }
        )
    }

    private static func viewings(at service: HTTPURL) -> Viewings {
        let account = Statement.Identifier.account(
            homePage: IRI(stringLiteral: service.origin),
            name: "player-monitor"
        )
        return Viewings(viewer: .agent(Statement.Agent(account)))
    }

    func transport() throws -> SystemTransport {
        do { return try SystemTransport() } catch { throw ValidationError(error.description) }
    }
}

/// The endpoint of the Clickstream backend.
private final class CommandLineDelegate: ClickstreamDelegate {
    let environment: ClickstreamEnvironment
    let userAgent = "player-monitor"

    init(endpoint: HTTPURL) { environment = ClickstreamEnvironment("command line", endpoint: endpoint) }
}
