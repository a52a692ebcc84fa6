internal import Instrument
internal import InstrumentHTTP
internal import InstrumentJSON
internal import InstrumentXAPI

/// Sends requests with a token, which is fetched if it is missing or expired, and once after each 401.
///
/// Source: RFC 6749, section 4.4 (client credentials).
final class SeerSession: Sendable {
    private struct Token: Sendable {
        let value: String
        let expiry: MonotonicInstant?
    }

    private enum Fetched { case token(String), failed(DeliveryOutcome) }
    private typealias Exchange = (request: HTTPRequest, response: HTTPResponse)

    /// The result of sending a body.
    enum Posting: Sendable {
        /// The service responded, or no token was available.
        case ended(DeliveryOutcome)
        /// The service refused the existing token and a new one.
        case tokenRefused(reason: String)

        /// The outcome for the queue. The next attempt begins with a new token, so the normal back-off is enough.
        var outcome: DeliveryOutcome {
            switch self {
            case .ended(let outcome): outcome
            case .tokenRefused(let reason): .retry(after: nil, reason: reason)
            }
        }

        /// The error for the app; nil if the body has arrived.
        var error: SeerError? {
            switch self {
            case .ended(let outcome): SeerError(outcome)
            case .tokenRefused(let reason): SeerError(.unauthorized, reason)
            }
        }
    }

    private let configuration: SeerConfiguration
    private let credentials: SeerCredentials
    private let transport: any HTTPTransport
    private let clock: any SchedulingClock
    private let token = Lock<Token?>(nil)
    /// Receives the error of each token request; nil for a success.
    private let onFetch: @Sendable (SeerError?) -> Void

    init(
        _ configuration: SeerConfiguration,
        _ credentials: SeerCredentials,
        _ transport: any HTTPTransport,
        _ clock: any SchedulingClock,
        onFetch: @escaping @Sendable (SeerError?) -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.credentials = credentials
        self.transport = transport
        self.clock = clock
        self.onFetch = onFetch
    }

    /// Sends a body to an endpoint; an endpoint without a path counts as a refusal. After a 401 the body is
    /// sent once more, with a new token, no matter how new the other one was.
    func post(_ body: [UInt8], to endpoint: SeerEndpoints.Name) async -> Posting {
        guard let path = configuration.endpoints.paths[endpoint] else {
            return .ended(.refused(reason: "the configuration has no endpoint \(endpoint); add it"))
        }
        do throws(HTTPError) {
            var refusal: String?
            for isFirst in [true, false] {
                switch await token(isRefused: !isFirst) {
                case .failed(let outcome): return .ended(outcome)
                case .token(let value):
                    let answer = try await send(body, path, value)
                    guard answer.response.status == 401 else { return .ended(outcome(of: answer)) }
                    refusal = ServerWords.reason(for: answer.response, to: answer.request, hiding: credentials.secrets)
                }
            }
            token.withLock { $0 = nil }
            return .tokenRefused(reason: refusal ?? "HTTP 401")
        } catch {
            return .ended(DeliveryOutcome(error))
        }
    }

    private func token(isRefused: Bool) async -> Fetched {
        if !isRefused, let known = validToken { return .token(known) }
        return await fetch()
    }

    /// Fetches a new token.
    func start() async -> SeerError? {
        switch await fetch() {
        case .token: nil
        case .failed(let outcome): SeerError(outcome)
        }
    }

    private var validToken: String? {
        let now = clock.now
        return token.withLock { token in
            guard let known = token, known.expiry.map({ now < $0 }) ?? true else { return nil }
            return known.value
        }
    }

    private func send(_ body: [UInt8], _ path: String, _ token: String) async throws(HTTPError) -> Exchange {
        try await send(body, path, "application/json", "Bearer " + token)
    }

    private func send(
        _ body: [UInt8],
        _ path: String,
        _ type: String,
        _ authorization: String
    ) async throws(HTTPError) -> Exchange {
        var headers = HTTPHeaders()
        try headers.add("Content-Type", type)
        try headers.add("Accept", "application/json")
        try headers.add("Authorization", authorization)
        if let key = credentials.apiKey { try headers.add("X-Api-Key", key) }
        let url = try configuration.baseURL.appending(path: path)
        let request = HTTPRequest(.post, url, headers: headers, body: body, timeout: configuration.requestTimeout)
        return (request, try await transport.send(request))
    }

    private func fetch() async -> Fetched {
        token.withLock { $0 = nil }
        let fetched = await fetchOnce()
        switch fetched {
        case .token: onFetch(nil)
        case .failed(let outcome): onFetch(SeerError(outcome))
        }
        return fetched
    }

    private func fetchOnce() async -> Fetched {
        do throws(HTTPError) {
            let body = Array("grant_type=client_credentials".utf8)
            let path = configuration.endpoints.paths[.token] ?? ""
            let form = "application/x-www-form-urlencoded"
            return read(try await send(body, path, form, credentials.authorization))
        } catch {
            return .failed(waiting(DeliveryOutcome(error)))
        }
    }

    private func read(_ answer: Exchange) -> Fetched {
        let outcome = outcome(of: answer)
        guard outcome == .acknowledged else { return .failed(waiting(outcome)) }
        let json = try? JSONValue(parsing: answer.response.body)
        guard let value = json?["access_token"]?.string, !value.isEmpty else {
            return .failed(.retry(after: nil, reason: "the service's response has no token"))
        }
        let expiry = json?["expires_in"]?.int.map { clock.now.advanced(by: .seconds(max(0, $0))) }
        token.withLock { $0 = Token(value: value, expiry: expiry) }
        return .token(value)
    }

    private func outcome(of answer: Exchange) -> DeliveryOutcome {
        DeliveryOutcome(answer.response, to: answer.request, now: clock.wallTime, hiding: credentials.secrets)
    }

    /// The outcome of a failed token request, which never refuses the payload.
    private func waiting(_ outcome: DeliveryOutcome) -> DeliveryOutcome {
        switch outcome {
        case .retry, .unauthorized: outcome
        case .gone(let reason), .refused(let reason), .tooLarge(let reason):
            .unauthorized(reason: "no token: " + reason)
        case .acknowledged, .acknowledgedExcept: .retry(after: nil, reason: "no token")
        }
    }
}
