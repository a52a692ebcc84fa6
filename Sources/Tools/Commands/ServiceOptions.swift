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
            Where the credentials of a backend are: the name of an environment variable, or 'file:PATH'. Never the credentials \
            themselves, which other users could see in the list of processes. A prefix such as 'sift=' limits them to that \
            backend. May be repeated. What the variable or the file holds:
            """,
            discussion: CredentialsOption.Service.allCases.map { "\($0.rawValue): \($0.form)" }.joined(separator: "\n"),
            valueName: "variable-or-file"
        )
    )
    var credentials: [CredentialsOption] = []

    /// The credentials of the service, otherwise those without a service.
    func credentials(for service: CredentialsOption.Service) -> CredentialsOption? {
        credentials.last { $0.service == service } ?? credentials.last { $0.service == nil }
    }

    /// That a service got no credentials, and how to pass them.
    static func missing(_ service: CredentialsOption.Service) -> ValidationError {
        let name = service.rawValue.uppercased()
        return ValidationError(
            "\(service.rawValue) requires --credentials-from: set a variable to \(service.form), and name it, as in "
                + "--credentials-from \(name)"
        )
    }

    func clickstream(_ url: HTTPURL) throws -> any Backend {
        let transport = try transport()
        do throws(HTTPError) {
            return try ClickstreamBackend(delegate: CommandLineDelegate(endpoint: url), transport: transport)
        } catch {
            throw ValidationError(error.description)
        }
    }

    /// The installation's identifier is stored beside the queue; without a queue, every run has a new one.
    func sift(_ endpoint: SiftEndpoint, queue: String?, _ terminal: Terminal) throws -> any Backend {
        guard let credentials = credentials(for: .sift) else {
            throw Self.missing(.sift)
        }
        let (account, key) = try credentials.pair()
        guard let pair = SiftCredentials(accountID: account, beaconKey: key) else { throw credentials.noPair }
        let file = queue.map { SiftSettingsFile(path: $0 + "/sift.json") }
        return SiftBackend(
            SiftConfiguration(endpoint: endpoint),
            credentials: pair,
            transport: try transport(),
            settings: file ?? SiftSettingsMemory(),
            report: { terminal.note($0) }
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
            throw Self.missing(.seer)
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
        try SystemTransport.ofProgram()
    }
}

/// The endpoint of the Clickstream backend.
private final class CommandLineDelegate: ClickstreamDelegate {
    let environment: ClickstreamEnvironment
    let userAgent = PlayerMonitor.userAgent

    init(endpoint: HTTPURL) { environment = ClickstreamEnvironment("command line", endpoint: endpoint) }
}
