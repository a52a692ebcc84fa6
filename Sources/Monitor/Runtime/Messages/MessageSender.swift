package import Instrument
package import InstrumentHTTP
internal import InstrumentJSON
package import InstrumentMonitor

/// A message as the queue keeps it.
package struct QueuedMessage: Sendable {
    package let id: String
    package let body: String

    package init(id: String, body: String) { (self.id, self.body) = (id, body) }

    package init(_ message: AlertMessage) { self.init(id: message.id, body: message.json.description) }

    /// The message; nil if another version of the monitor has queued it.
    var message: AlertMessage? { (try? JSONValue(parsing: body)).flatMap { AlertMessage($0) } }
}

/// The outcome of sending a message, and the words of the service.
package struct SendingResult: Hashable, Sendable {
    package var outcome: DeliveryOutcome
    /// What the service answered, on one line, without secrets; nil if it said nothing.
    package var answer: String?

    package init(_ outcome: DeliveryOutcome, answer: String? = nil) { (self.outcome, self.answer) = (outcome, answer) }
}

/// Sends messages to one receiver.
package protocol MessageSender: Sendable {
    /// Whether the service keeps incidents, which a message about their end closes.
    var keepsIncidents: Bool { get }
    /// Sends a message once.
    func send(_ message: QueuedMessage) async -> SendingResult
}

/// Sends messages by HTTP in the format of a service.
package struct HTTPSender: MessageSender {
    private let format: any MessageFormat
    private let transport: any HTTPTransport
    private let clock: any SchedulingClock

    package init(
        _ format: any MessageFormat,
        transport: any HTTPTransport,
        clock: any SchedulingClock = SystemClock()
    ) {
        (self.format, self.transport, self.clock) = (format, transport, clock)
    }

    package var keepsIncidents: Bool { format.keepsIncidents }

    package func send(_ queued: QueuedMessage) async -> SendingResult {
        let request: HTTPRequest
        do throws(HTTPError) {
            if let verbatim = try format.request(body: Array(queued.body.utf8), id: queued.id) {
                request = verbatim
            } else if let message = queued.message {
                request = try format.request(for: message, at: clock.wallTime)
            } else {
                return SendingResult(.refused(reason: "another version of the monitor has queued the message"))
            }
        } catch {
            return SendingResult(.refused(reason: hidden(error.description)))
        }
        return await send(request)
    }

    private func send(_ request: HTTPRequest) async -> SendingResult {
        // Many services put a secret in the path.
        let path = request.url.path.utf8.count > 1 ? [request.url.path] : []
        do throws(HTTPError) {
            let response = try await transport.send(request)
            let status = DeliveryOutcome(
                response,
                to: request,
                now: clock.wallTime,
                rules: format.rules,
                hiding: format.secrets + path
            )
            let words = ServerWords.words(of: response, to: request, hiding: format.secrets + path)
            let outcome = format.outcome(of: response, status).withReason { hidden($0, request.url) }
            return SendingResult(outcome, answer: "HTTP \(response.status)" + (words.map { ": \($0)" } ?? ""))
        } catch {
            return SendingResult(DeliveryOutcome(error).withReason { hidden($0, request.url) })
        }
    }

    private func hidden(_ reason: String, _ url: HTTPURL? = nil) -> String {
        let reason = url.map { reason.replacing($0.description, with: $0.origin + "/…") } ?? reason
        return HiddenTexts(format.secrets).hide(in: reason)
    }
}

extension DeliveryOutcome {
    /// The outcome with another reason.
    func withReason(_ change: (String) -> String) -> DeliveryOutcome {
        switch self {
        case .acknowledged: self
        case .acknowledgedExcept(let refused): .acknowledgedExcept(refused.mapValues(change))
        case .retry(let delay, let reason): .retry(after: delay, reason: change(reason))
        case .unauthorized(let reason): .unauthorized(reason: change(reason))
        case .tooLarge(let reason): .tooLarge(reason: change(reason))
        case .refused(let reason): .refused(reason: change(reason))
        case .gone(let reason): .gone(reason: change(reason))
        }
    }

    /// Why nothing, or not everything, has arrived; nil if everything has.
    package var failure: String? {
        switch self {
        case .acknowledged: nil
        case .acknowledgedExcept(let refused): refused.values.sorted().first
        case .retry(_, let reason), .unauthorized(let reason), .tooLarge(let reason), .refused(let reason),
            .gone(let reason):
            reason
        }
    }
}
