internal import InstrumentBackendKinds
internal import InstrumentCommandLine
internal import InstrumentHTTP
internal import InstrumentMonitorRuntime
internal import InstrumentText
internal import InstrumentWatch

/// The tokens of the command line and of the configuration for the server, and the headers for streams.
struct WatchAccess: Sendable {
    let control = AccessControl()
    /// The headers and cookies with which streams are requested.
    let headers: StreamHeaders
    /// The token of the command line, which all its clients share.
    private let shared: [UInt8]?

    /// Exits with code 2 if the token cannot be read.
    init(_ token: CredentialsOption?, headers: StreamHeaders) throws {
        self.headers = headers
        shared = try token.map { Array(try $0.secret(namedBy: "--token-from", form: "a token").utf8) }
    }

    /// Applies a configuration; without success, the rules stay as they are.
    func apply(_ configuration: WatchConfiguration) throws(WatchSetupError) {
        var tokens = shared.map { [(client: ServerClient(name: "", role: .act), token: $0)] } ?? []
        for token in configuration.access.tokens {
            let text = try WatchBackends.read(token.secret, "the token of `\(token.name)`")
            tokens.append((ServerClient(name: token.name, role: token.role), Array(text.utf8)))
        }
        var own: [String: HTTPHeaders] = [:]
        for stream in configuration.streams where !stream.headers.isEmpty {
            own[stream.name] = try Self.headers(of: stream)
        }
        headers.replace(own)
        control.replace(tokens: tokens, proxy: configuration.access.proxy, link: configuration.link)
    }

    private static func headers(of stream: WatchedStream) throws(WatchSetupError) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for header in stream.headers {
            let subject = "\(stream.place): the header `\(header.name)` of `\(stream.name.excerpt())`"
            let (value, isSecret): (String, Bool) =
                switch header.value {
                case .literal(let text): (text, false)
                case .secret(let secret): (try WatchBackends.read(secret, subject), true)
                }
            do throws(HTTPError) {
                try headers.add(header.name, value, isSecret: isSecret)
            } catch {
                throw WatchSetupError(description: "\(subject) cannot be sent: \(error.message)")
            }
        }
        return headers
    }

    /// Whether a configuration has clients that show who they are.
    static func isLimited(_ configuration: WatchConfiguration) -> Bool {
        !configuration.access.tokens.isEmpty || configuration.access.proxy != nil
    }
}
