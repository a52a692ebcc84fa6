internal import ArgumentParser
internal import Instrument
internal import InstrumentClickstream
internal import InstrumentSift
internal import InstrumentTransport

/// What backends over the network need beside their address.
struct ServiceOptions: ParsableArguments {
    @Option(
        name: .customLong("credentials-from"),
        help: ArgumentHelp(
            """
            Where 'sift' gets ACCOUNT:KEY from: the name of an environment variable, or 'file:PATH'. Never the keys \
            themselves, which others could read in the list of processes.
            """,
            valueName: "variable-or-file"
        )
    )
    var credentials: CredentialsOption?

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
        guard let credentials else { throw ValidationError("sift needs --credentials-from") }
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
}

/// Where events of the command line go.
private final class CommandLineDelegate: ClickstreamDelegate {
    let environment: ClickstreamEnvironment
    let userAgent = "player-monitor"

    init(endpoint: HTTPURL) { environment = ClickstreamEnvironment("command line", endpoint: endpoint) }
}
