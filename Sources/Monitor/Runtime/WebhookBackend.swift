package import Instrument
package import InstrumentHTTP
internal import InstrumentJSON
package import InstrumentMonitor

/// Sends messages about alerts to one receiver: an HTTP POST of JSON for each.
///
/// `X-Instrument-Delivery` has the identifier of the message, which stays the same when a message is sent again, and
/// `X-Instrument-Signature` has `sha256=` and the HMAC-SHA256 of the body with the receiver's secret. The queue retries
/// a message until the receiver answers with status 2xx, or refuses it with a status 4xx.
package final class WebhookBackend: Backend {
    package let name: BackendName
    /// Each message alone and at once, so that a message that arrived is never sent with one that did not.
    package let policy = DeliveryPolicy(maxCount: 1, maxAge: .zero, timeout: .seconds(30), dueCount: 1)
    package var service: ServiceName? { Self.service(of: receiver) }

    private let receiver: String
    private let url: HTTPURL
    private let key: [UInt8]?
    private let transport: any HTTPTransport
    private let clock: any SchedulingClock
    private let timeout: Duration

    /// Creates a backend for a receiver of the configuration.
    /// - Parameters:
    ///   - receiver: the name of the receiver.
    ///   - url: the address of the webhook.
    ///   - key: signs the messages; nil sends them without a signature.
    package init(
        receiver: String,
        url: HTTPURL,
        key: [UInt8]?,
        transport: any HTTPTransport,
        clock: any SchedulingClock = SystemClock(),
        timeout: Duration = .seconds(15)
    ) {
        name = BackendName("alerts:" + receiver)
        (self.receiver, self.url, self.key, self.transport) = (receiver, url, key, transport)
        (self.clock, self.timeout) = (clock, timeout)
    }

    static func service(of receiver: String) -> ServiceName { ServiceName("alerts:" + receiver) }

    package func deliver(_ batch: Batch) async -> DeliveryOutcome {
        for record in batch.records {
            guard case .event(let event) = record.sample, event.action == .monitorAlert,
                let body = event[.alertMessage]
            else { continue }
            let outcome = await send(Array(body.utf8), event[.alertMessageId] ?? record.id.description)
            if outcome != .acknowledged { return outcome.hiding(url) }
        }
        return .acknowledged
    }

    private func send(_ body: [UInt8], _ id: String) async -> DeliveryOutcome {
        do throws(HTTPError) {
            var headers = try HTTPHeaders(["Content-Type": "application/json"])
            try headers.set("X-Instrument-Delivery", id)
            if let key { try headers.set("X-Instrument-Signature", MessageSignature.header(body, key: key)) }
            let request = HTTPRequest(
                .post,
                url,
                headers: headers,
                body: body,
                timeout: timeout,
                maxResponseBytes: 64 << 10
            )
            return await transport.deliver(request, clock: clock, rules: .anyServer)
        } catch {
            return DeliveryOutcome(error)
        }
    }
}

extension DeliveryOutcome {
    /// The outcome with the path of an address left out of its reason: many services put a secret there.
    fileprivate func hiding(_ url: HTTPURL) -> DeliveryOutcome {
        let hide = { (reason: String) in reason.replacing(url.description, with: url.origin + "/…") }
        return switch self {
        case .acknowledged, .acknowledgedExcept: self
        case .retry(let delay, let reason): .retry(after: delay, reason: hide(reason))
        case .unauthorized(let reason): .unauthorized(reason: hide(reason))
        case .tooLarge(let reason): .tooLarge(reason: hide(reason))
        case .refused(let reason): .refused(reason: hide(reason))
        case .gone(let reason): .gone(reason: hide(reason))
        }
    }
}

/// Appends messages to the shared queue, from which a ``WebhookBackend`` sends them.
package struct QueueSink: AlertSink {
    private let queue: BatchQueue
    private let clock: any SchedulingClock
    private let note: @Sendable (AlertMessage) -> Void

    /// - Parameter note: receives each message, for the log.
    package init(
        _ queue: BatchQueue,
        clock: any SchedulingClock = SystemClock(),
        note: @escaping @Sendable (AlertMessage) -> Void = { _ in }
    ) {
        (self.queue, self.clock, self.note) = (queue, clock, note)
    }

    package func send(_ message: AlertMessage) {
        var event = Event(.monitorAlert, tracker: TrackerID(0), time: clock.timestamp)
        event[.alertMessage] = message.json.description
        event[.alertMessageId] = message.id
        for receiver in message.receivers { queue.append([.event(event)], for: WebhookBackend.service(of: receiver)) }
        note(message)
    }
}
