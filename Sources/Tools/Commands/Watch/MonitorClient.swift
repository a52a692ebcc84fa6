internal import ArgumentParser
internal import Instrument
internal import InstrumentCommandLine
internal import InstrumentHTTP
internal import InstrumentJSON
internal import InstrumentText
internal import InstrumentTransport

/// Why a monitor did not do what it was asked to.
enum MonitorClientError: Error, CustomStringConvertible {
    /// The monitor refuses, with its words.
    case refused(status: Int, String)
    /// There is no monitor, or it does not answer.
    case unreachable(HTTPError)

    /// What went wrong, for a line that says that the monitor refuses.
    var reason: String {
        switch self {
        case .refused(_, let words): words
        case .unreachable(let error): error.message
        }
    }

    /// What went wrong, as a sentence above a table.
    var sentence: String {
        switch self {
        case .refused(let status, let words): "The monitor refuses (status \(status)): \(words)."
        case .unreachable(let error): "The monitor does not answer (\(error.message))."
        }
    }

    var description: String {
        switch self {
        case .refused(let status, let words): "the monitor refuses (status \(status)): \(words)"
        case .unreachable(let error): "\(error)"
        }
    }
}

/// The token of a monitor that a command speaks with, and who vouches for it.
struct MonitorToken: ParsableArguments {
    @Option(
        name: .customLong("token-from"),
        help: ArgumentHelp(
            "Source of the monitor's token: the name of an environment variable, or 'file:PATH'.",
            valueName: "variable-or-file"
        )
    )
    var source: CredentialsOption?

    @Option(
        name: .customLong("ca"),
        help: ArgumentHelp(
            "PEM file with further certificate authorities, for a monitor whose certificate no public authority has signed.",
            valueName: "file"
        )
    )
    var authorities: String?
}

/// Speaks with a running monitor over HTTP.
struct MonitorClient: Sendable {
    private let base: String
    private let token: String?
    private let transport: SystemTransport

    /// - Parameter url: the address of the monitor, without a path.
    init(_ url: String, token: MonitorToken) throws {
        transport = try SystemTransport.ofProgram(authorities: token.authorities)
        self.token = try token.source?.secret(namedBy: "--token-from", form: "the token of the monitor")
        base = try HTTPURL(url).origin
    }

    /// Refuses an address that is not that of a monitor.
    static func validate(_ url: String) throws {
        let address = try Address.read(url, of: "the address of the monitor")
        guard address.path == "/" || address.path.isEmpty else {
            throw ValidationError("the address of the monitor must have no path (found '\(url)')")
        }
    }

    func get(_ path: String) async -> Result<JSONValue, MonitorClientError> { await send(.get, path) }

    /// Reads a page of the monitor.
    func page(_ path: String) async -> Result<[UInt8], MonitorClientError> {
        await exchange(.get, path, nil).flatMap { response in
            response.isSuccess ? .success(response.body) : .failure(Self.refusal(response))
        }
    }

    /// Sends a request; a refusal of the monitor is a failure with the monitor's words.
    func send(
        _ method: HTTPMethod,
        _ path: String,
        _ body: JSONValue? = nil
    ) async -> Result<JSONValue, MonitorClientError> {
        await exchange(method, path, body).flatMap { response in
            if response.isSuccess, let json = try? JSONValue(parsing: response.body) { return .success(json) }
            // Another server at this address may answer a GET with a page.
            let hasWords = response.headers["Content-Type"]?.lowercased().hasPrefix("text/plain") ?? false
            if !response.isSuccess, method != .get || hasWords { return .failure(Self.refusal(response)) }
            return .failure(.unreachable(Self.malformed(response)))
        }
    }

    private func exchange(
        _ method: HTTPMethod,
        _ path: String,
        _ body: JSONValue?
    ) async -> Result<HTTPResponse, MonitorClientError> {
        do throws(HTTPError) {
            var headers = HTTPHeaders()
            if let token { try headers.set("Authorization", "Bearer " + token, isSecret: true) }
            if body != nil { try headers.set("Content-Type", "application/json") }
            let request = HTTPRequest(
                method,
                try HTTPURL(base + path),
                headers: headers,
                body: body?.bytes ?? [],
                timeout: .seconds(10),
                maxResponseBytes: 256 << 20
            )
            return .success(try await transport.send(request))
        } catch {
            return .failure(.unreachable(error))
        }
    }

    /// The monitor's words, or what was found in place of them.
    private static func refusal(_ response: HTTPResponse) -> MonitorClientError {
        let words = String(String(decoding: response.body.prefix(500), as: UTF8.self).trimmingWhitespace)
        return words.isEmpty ? .unreachable(malformed(response)) : .refused(status: response.status, words)
    }

    private static func malformed(_ response: HTTPResponse) -> HTTPError {
        HTTPError(
            .malformedResponse,
            "expected the state of a monitor (found status \(response.status))",
            status: response.status
        )
    }
}
