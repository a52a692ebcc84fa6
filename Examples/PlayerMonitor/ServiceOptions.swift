internal import ArgumentParser
internal import Instrument
internal import InstrumentClickstream
internal import InstrumentSeer
internal import InstrumentSift
internal import InstrumentTerminal
internal import InstrumentTransport
internal import InstrumentXAPI

/// What backends over the network need beside their address.
struct ServiceOptions: ParsableArguments {
    @Option(
        name: .customLong("credentials-from"),
        help: ArgumentHelp(
            """
            Where 'sift' gets ACCOUNT:KEY from, 'xapi' USER:PASSWORD and 'seer' CLIENT:SECRET: the name of an environment variable, \
            or 'file:PATH'. With 'sift=', 'xapi=' or 'seer=' before it, for that one alone; may be given several times. Never the \
            keys themselves, which others could read in the list of processes.
            """,
            valueName: "variable-or-file"
        )
    )
    var credentials: [CredentialsOption] = []

    /// The service's own, or those that are for nobody in particular.
    private func credentials(for service: CredentialsOption.Service) -> CredentialsOption? {
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

    /// The installation's identifier is kept beside the queue; without one it is another at every run.
    func sift(_ endpoint: SiftEndpoint, queue: String?, _ terminal: Terminal) throws -> any Backend {
        guard let credentials = credentials(for: .sift) else { throw ValidationError("sift needs --credentials-from") }
        let file = queue.map { SiftSettingsFile(path: $0 + "/sift.json") }
        do {
            return SiftBackend(
                SiftConfiguration(endpoint: endpoint),
                credentials: try credentials.read(),
                transport: try SystemTransport(),
                settings: file ?? SiftSettingsMemory(),
                report: { terminal.note("player-monitor: \($0)") }
            )
        } catch let error as HTTPError {
            throw ValidationError(error.description)
        }
    }

    /// Statements of the video profile about one viewer, the command line. What was played is remembered beside the queue.
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

    /// Tin Can statements, as Seer takes them.
    func seer(_ baseURL: HTTPURL) throws -> any Backend {
        guard let pair = try credentials(for: .seer)?.pair() else {
            throw ValidationError("seer needs --credentials-from")
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

    private func transport() throws -> SystemTransport {
        do { return try SystemTransport() } catch { throw ValidationError(error.description) }
    }
}

/// Where events of the command line go.
private final class CommandLineDelegate: ClickstreamDelegate {
    let environment: ClickstreamEnvironment
    let userAgent = "player-monitor"

    init(endpoint: HTTPURL) { environment = ClickstreamEnvironment("command line", endpoint: endpoint) }
}
