internal import Instrument
internal import InstrumentBackendKinds
internal import InstrumentHTTP
internal import InstrumentOTLP

extension BackendKind {
    static let otlp = BackendKind(
        "otlp",
        summary: "OpenTelemetry over HTTP",
        credentials: .optional("HEADER:VALUE")
    ) { url, context in
        var configuration = OTLPConfiguration(resource: [OTLPLog.Attribute("service.name", "player-monitor")])
        if let pair = try context.credentials?.pair() {
            try configuration.headers.add(pair.name, pair.secret, isSecret: true)
        }
        return try OTLPBackend(url, configuration: configuration, transport: try context.transport())
    }
}
