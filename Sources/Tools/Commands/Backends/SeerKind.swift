internal import InstrumentBackendKinds
internal import InstrumentSeer
internal import InstrumentXAPI

extension BackendKind {
    /// Sends Tin Can statements in Seer's format.
    static let seer = BackendKind(
        "seer",
        summary: "the Seer service",
        credentials: .required("CLIENT:SECRET")
    ) { baseURL, context in
        let pair = try context.requiredCredentials().pair()
        let mapping = SeerMapping(appID: "player-monitor", viewings: .ofCommandLine(at: baseURL))
        return SeerBackend(
            SeerConfiguration(baseURL: baseURL),
            credentials: SeerCredentials(clientID: pair.name, clientSecret: pair.secret),
            transport: try context.transport(),
            mapping: { mapping($0) }
        )
    }
}
