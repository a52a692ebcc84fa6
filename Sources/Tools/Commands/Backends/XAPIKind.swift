internal import InstrumentBackendKinds
internal import InstrumentHTTP
internal import InstrumentXAPI

extension BackendKind {
    /// Sends statements of the video profile about one viewer, the command line. The viewing history is stored beside
    /// the queue.
    static let xapi = BackendKind(
        "xapi",
        summary: "endpoint of a learning record store (LRS)",
        credentials: .optional("USER:PASSWORD")
    ) { endpoint, context in
        let pair = try context.credentials?.pair()
        let memory: any XAPIStateStore =
            context.directory.map { FileStateStore(root: $0 + "/xapi") } ?? InMemoryStateStore()
        return XAPIBackend(
            XAPIConfiguration(
                endpoint: endpoint,
                credentials: pair.map { .basic(user: $0.name, password: $0.secret) }
            ),
            mapping: VideoMapping(viewings: .ofCommandLine(at: endpoint)),
            transport: try context.transport(),
            memory: memory,
            report: context.note
        )
    }
}

extension Viewings {
    /// The viewings of the command line, as an account of a service.
    static func ofCommandLine(at service: HTTPURL) -> Viewings {
        let account = Statement.Identifier.account(
            homePage: IRI(stringLiteral: service.origin),
            name: "player-monitor"
        )
        return Viewings(viewer: .agent(Statement.Agent(account)))
    }
}
