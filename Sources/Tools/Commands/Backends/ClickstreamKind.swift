internal import InstrumentBackendKinds
internal import InstrumentClickstream
internal import InstrumentHTTP

extension BackendKind {
    static let clickstream = BackendKind("clickstream", summary: "a clickstream collector") { url, context in
        try ClickstreamBackend(delegate: CommandLineDelegate(endpoint: url), transport: try context.transport())
    }
}

/// The endpoint of the Clickstream backend.
private final class CommandLineDelegate: ClickstreamDelegate {
    let environment: ClickstreamEnvironment
    let userAgent = PlayerMonitor.userAgent

    init(endpoint: HTTPURL) { environment = ClickstreamEnvironment("command line", endpoint: endpoint) }
}
