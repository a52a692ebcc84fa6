public import Instrument

/// The meaning of some response statuses of a backend's server.
public struct DeliveryRules: Hashable, Sendable {
    /// Whether 409 says that the batch is there already, as a server does that recognises identifiers.
    public var conflictMeansDelivered: Bool
    /// Whether the backend renews its token after 401, so that the next attempt need not be delayed.
    public var renewsTokens: Bool
    /// Whether each sample has an address, which an answer may refuse (404).
    package var samplesHaveAddresses = false
    /// Whether a web page with a status of success is an answer of the server, which nobody specified.
    package var acceptsPages = false

    /// Creates rules; by default neither is so.
    public init(conflictMeansDelivered: Bool = false, renewsTokens: Bool = false) {
        self.conflictMeansDelivered = conflictMeansDelivered
        self.renewsTokens = renewsTokens
    }

    /// The rules of requests of which each has its sample's address.
    package static var addressOfEachSample: DeliveryRules {
        var rules = DeliveryRules()
        (rules.samplesHaveAddresses, rules.acceptsPages) = (true, true)
        return rules
    }

    /// The rules of a server of which nothing is known but its address.
    package static var anyServer: DeliveryRules {
        var rules = DeliveryRules()
        rules.acceptsPages = true
        return rules
    }
}

extension DeliveryOutcome {
    /// The outcome of a batch, by the status of the response.
    ///
    /// Only a status with which a service judges what the request contains refuses samples. All others may come from
    /// another server than the service (a proxy, the sign-in page of a network, a server at a wrong address), and
    /// samples wait for the service.
    ///
    /// | status | outcome |
    /// |---|---|
    /// | 2xx | acknowledged; a web page for an answer (see below): try again |
    /// | 400, 422 | refused |
    /// | 409 | acknowledged if the rules say so, otherwise refused |
    /// | 413 | too large |
    /// | 401, 403, 407 | unauthorized |
    /// | 410 | gone |
    /// | all others: 3xx, 404, 405, 408, 415, 421, 429, 451, 5xx and what is no status | try again, after what `retryAfter` asks for; where the cause may be the address, the reason says so |
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
        let foreign = ForeignAnswer(status: status)
        switch status {
        case 200...299: self = .acknowledged
        case 401 where rules.renewsTokens: self = .retry(after: nil, reason: reason)
        case 401, 403, 407: self = .unauthorized(reason: reason)
        case 409 where rules.conflictMeansDelivered: self = .acknowledged
        case 400, 409, 422: self = .refused(reason: reason)
        case 410: self = .gone(reason: reason)
        case 413: self = .tooLarge(reason: reason)
        case _ where rules.samplesHaveAddresses && foreign != nil: self = .refused(reason: reason)
        default:
            let remedy = foreign.map { " (\($0.remedy))" } ?? ""
            self = .retry(after: RetryAfter.delay(retryAfter, now: now), reason: reason + remedy)
        }
    }

    /// The outcome of a batch, by the response to `request`.
    ///
    /// What ends delivery, or waits for a credential or an address, carries the server's own words, without the secrets
    /// of the request (`ServerWords`). The reason of another attempt is the status alone: words that change with each
    /// answer would make each attempt news.
    public init(
        _ response: HTTPResponse,
        to request: HTTPRequest,
        now: WallTime,
        rules: DeliveryRules = DeliveryRules(),
        hiding secrets: [String] = []
    ) {
        self.init(response, now: now, rules: rules)
        let hasWords =
            switch self {
            case .unauthorized, .refused, .tooLarge, .gone: true
            case .retry: (400...499).contains(response.status) && ForeignAnswer(response) != nil
            case .acknowledged, .acknowledgedExcept: false
            }
        guard hasWords else { return }
        let reason = ServerWords.reason(for: response, to: request, hiding: secrets)
        self.init(response, now: now, rules: rules, reason: reason)
    }

    /// The outcome of a batch, by the response. The reason holds nothing of the response's body, which may repeat the
    /// request.
    public init(_ response: HTTPResponse, now: WallTime, rules: DeliveryRules = DeliveryRules()) {
        self.init(response, now: now, rules: rules, reason: nil)
    }

    /// The outcome of a batch, by the response.
    ///
    /// - Parameters:
    ///   - status: the status that the response means, if the service says so in another way.
    ///   - reason: what to say of it.
    package init(
        _ response: HTTPResponse,
        status: Int? = nil,
        now: WallTime,
        rules: DeliveryRules = DeliveryRules(),
        reason: String?
    ) {
        if case .page? = ForeignAnswer(response), !rules.acceptsPages {
            let text = "HTTP \(response.status) with a web page (\(ForeignAnswer.page.remedy))"
            self = .retry(after: nil, reason: text)
            return
        }
        let retryAfter = response.headers["Retry-After"]
        self.init(status: status ?? response.status, retryAfter: retryAfter, now: now, rules: rules, reason: reason)
    }

    /// The outcome of a batch without a response: retry, with two exceptions. A batch above the transport's own limit
    /// is too large, and an answer of status 2xx whose body was too large is an answer.
    public init(_ error: HTTPError) {
        switch error.code {
        case .requestTooLarge: self = .tooLarge(reason: error.description)
        case .responseTooLarge where error.status.map { 200...299 ~= $0 } == true: self = .acknowledged
        default: self = .retry(after: nil, reason: error.description)
        }
    }
}
