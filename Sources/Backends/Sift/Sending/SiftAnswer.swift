internal import Instrument
internal import InstrumentJSON
internal import InstrumentTransport

/// What an answer of Sift's means.
enum SiftAnswer {
    /// The `status` in an answer's body that says: too many requests.
    private static let rateLimit = 60
    /// How much of a server's words is kept.
    private static let maxWords = 300

    /// The outcome by the status, with one exception: a rate limit that comes as 400 is no refusal. The reason has the
    /// server's words, without what they may repeat of the credentials.
    static func outcome(
        of response: HTTPResponse,
        now: WallTime,
        hiding credentials: SiftCredentials
    ) -> DeliveryOutcome {
        let answer = try? JSONValue(parsing: response.body)
        let isRateLimit = [400, 429].contains(response.status) && answer?["status"]?.int == rateLimit
        return DeliveryOutcome(
            status: isRateLimit ? 429 : response.status,
            retryAfter: response.headers["Retry-After"],
            now: now,
            reason: reason(response.status, answer, hiding: credentials)
        )
    }

    /// The outcome without an answer. The address is taken out of the reason, because the account is part of it.
    static func outcome(of error: HTTPError, hiding credentials: SiftCredentials) -> DeliveryOutcome {
        var error = error
        error.url = nil
        error.message = credentials.hidden(in: error.message)
        return DeliveryOutcome(error)
    }

    private static func reason(_ status: Int, _ answer: JSONValue?, hiding credentials: SiftCredentials) -> String {
        var reason = "HTTP \(status)"
        if let code = answer?["status"]?.int { reason += ", status \(code)" }
        if let words = answer?["error_message"]?.string {
            // By scalars: one character may have any number of marks.
            reason += ": " + String(credentials.hidden(in: words).unicodeScalars.prefix(maxWords))
        }
        return reason
    }
}
