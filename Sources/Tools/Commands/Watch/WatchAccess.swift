internal import InstrumentBackendKinds
internal import InstrumentCommandLine
internal import InstrumentMonitorRuntime
internal import InstrumentText
internal import InstrumentWatch

/// The tokens of the command line and of the configuration, for the server.
struct WatchAccess: Sendable {
    let control = AccessControl()
    /// The token of the command line, which all its clients share.
    private let shared: [UInt8]?

    /// Exits with code 2 if the token cannot be read.
    init(_ token: CredentialsOption?) throws {
        shared = try token.map { Array(try $0.secret(namedBy: "--token-from", form: "a token").utf8) }
    }

    /// Applies a configuration; without success, the rules stay as they are.
    func apply(_ configuration: WatchConfiguration) throws(WatchSetupError) {
        var tokens = shared.map { [(client: ServerClient(name: "", role: .act), token: $0)] } ?? []
        for token in configuration.access.tokens {
            let text = try WatchBackends.read(token.secret, "the token of `\(token.name)`")
            tokens.append((ServerClient(name: token.name, role: token.role), Array(text.utf8)))
        }
        control.replace(tokens: tokens, proxy: configuration.access.proxy, link: configuration.link)
    }

    /// Whether a configuration has clients that show who they are.
    static func isLimited(_ configuration: WatchConfiguration) -> Bool {
        !configuration.access.tokens.isEmpty || configuration.access.proxy != nil
    }
}
