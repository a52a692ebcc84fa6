internal import Instrument
internal import InstrumentHTTP
internal import InstrumentJSON

/// The meaning of a response of Sift.
enum SiftAnswer {
    /// The `status` in an answer's body that says: too many requests.
    private static let rateLimit = 60
    /// The outcome by the status, with one exception: a rate limit that comes as 400 is no refusal. The reason has the
    /// server's words, without what they may repeat of the credentials.
    static func outcome(
        of response: HTTPResponse,
        to request: HTTPRequest,
        now: WallTime,
        hiding credentials: SiftCredentials
    ) -> DeliveryOutcome {
        let answer = try? JSONValue(parsing: response.body)
        let isRateLimit = [400, 429].contains(response.status) && answer?["status"]?.int == rateLimit
        return DeliveryOutcome(
            response,
            status: isRateLimit ? 429 : nil,
            now: now,
            reason: reason(response, to: request, answer, hiding: credentials)
        )
    }

    /// The outcome without an answer. The address is taken out of the reason, because the account is part of it.
    static func outcome(of error: HTTPError, hiding credentials: SiftCredentials) -> DeliveryOutcome {
        var error = error
        error.url = nil
        error.message = credentials.hidden(in: error.message)
        return DeliveryOutcome(error)
    }

    private static func reason(
        _ response: HTTPResponse,
        to request: HTTPRequest,
        _ answer: JSONValue?,
        hiding credentials: SiftCredentials
    ) -> String {
        let status = answer?["status"]?.int.map { ", status \($0)" } ?? ""
        let words: String? =
            if let message = answer?["error_message"]?.string {
                // The rest of an answer of Sift's repeats the request.
                ServerWords.words(message, to: request, hiding: credentials.secrets)
            } else if case .object(let members)? = answer, members.count == 1, !status.isEmpty {
                nil
            } else {
                ServerWords.words(of: response, to: request, hiding: credentials.secrets)
            }
        return "HTTP \(response.status)" + status + (words.map { ": " + $0 } ?? "")
    }
}
