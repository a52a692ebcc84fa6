public import Instrument

/// The meaning of some response statuses of a backend's server.
public struct DeliveryRules: Hashable, Sendable {
    /// Whether 409 says that the batch is there already, as a server does that recognises identifiers.
    public var conflictMeansDelivered: Bool
    /// Whether the backend renews its token after 401, so that the next attempt need not be delayed.
    public var renewsTokens: Bool

    /// Creates rules; by default neither is so.
    public init(conflictMeansDelivered: Bool = false, renewsTokens: Bool = false) {
        self.conflictMeansDelivered = conflictMeansDelivered
        self.renewsTokens = renewsTokens
    }
}

extension DeliveryOutcome {
    /// The outcome of a batch, by the status of the response.
    ///
    /// | status | outcome |
    /// |---|---|
    /// | 2xx | acknowledged |
    /// | 408, 425, 429, 5xx, and what is no status | try again, after what `retryAfter` asks for |
    /// | 401, 403, 407 | unauthorized |
    /// | 413 | too large |
    /// | 410 | gone |
    /// | 409 | acknowledged if the rules say so, otherwise refused |
    /// | all others | refused |
    /// - Parameters:
    ///   - status: The status.
    ///   - retryAfter: The value of `Retry-After`.
    ///   - now: The calendar time, for a `retryAfter` that is a date.
    ///   - rules: What this server means by some answers.
    ///   - reason: What to say of it; by default `HTTP` and the status.
    public init(
        status: Int,
        retryAfter: String? = nil,
        now: WallTime,
        rules: DeliveryRules = DeliveryRules(),
        reason: String? = nil
    ) {
        let reason = reason ?? "HTTP \(status)"
        switch status {
        case 200...299: self = .acknowledged
        case 401 where rules.renewsTokens: self = .retry(after: nil, reason: reason)
        case 401, 403, 407: self = .unauthorized(reason: reason)
        case 409 where rules.conflictMeansDelivered: self = .acknowledged
        case 410: self = .gone(reason: reason)
        case 413: self = .tooLarge(reason: reason)
        case 408, 425, 429: self = .retry(after: RetryAfter.delay(retryAfter, now: now), reason: reason)
        case 300...499: self = .refused(reason: reason)
        default: self = .retry(after: RetryAfter.delay(retryAfter, now: now), reason: reason)
        }
    }

    /// The outcome of a batch, by the response to `request`.
    ///
    /// What ends delivery, or waits for a credential, carries the server's own words, without the secrets of the
    /// request (``ServerWords``). The reason of another attempt is the status alone: words that change with each answer
    /// would make each attempt news.
    public init(
        _ response: HTTPResponse,
        to request: HTTPRequest,
        now: WallTime,
        rules: DeliveryRules = DeliveryRules(),
        hiding secrets: [String] = []
    ) {
        self.init(response, now: now, rules: rules)
        let reason = { ServerWords.reason(for: response, to: request, hiding: secrets) }
        switch self {
        case .unauthorized: self = .unauthorized(reason: reason())
        case .refused: self = .refused(reason: reason())
        case .tooLarge: self = .tooLarge(reason: reason())
        case .gone: self = .gone(reason: reason())
        case .acknowledged, .acknowledgedExcept, .retry: break
        }
    }

    /// The outcome of a batch, by the response. The reason holds nothing of the response's body, which may repeat the
    /// request.
    public init(_ response: HTTPResponse, now: WallTime, rules: DeliveryRules = DeliveryRules()) {
        self.init(status: response.status, retryAfter: response.headers["Retry-After"], now: now, rules: rules)
    }

    /// The outcome of a batch without a response: retry, with three exceptions. A batch above the
    /// transport's own limit is too large, a redirect that must not be followed is a refusal, and an answer of status
    /// 2xx whose body was too large is an answer.
    public init(_ error: HTTPError) {
        switch error.code {
        case .requestTooLarge: self = .tooLarge(reason: error.description)
        case .redirectRefused: self = .refused(reason: error.description)
        case .responseTooLarge where error.status.map { 200...299 ~= $0 } == true: self = .acknowledged
        default: self = .retry(after: nil, reason: error.description)
        }
    }
}
