internal import Instrument
internal import InstrumentMonitor
internal import InstrumentText
package import InstrumentTransport
package import InstrumentWatch

/// Sends messages by e-mail, to each recipient alone: a recipient that the server refuses costs the others nothing, and
/// an attempt that failed is repeated for those who did not get the mail.
package final class MailSender: MessageSender {
    /// Messages whose deliveries are remembered. The queue sends one after the other.
    private static let mostRemembered = 16

    private struct Delivered {
        var message: String
        var recipients: Set<String> = []
        var refused: [String: String] = [:]
    }

    private let settings: MailSettings
    private let password: @Sendable () throws(UnreadableSecret) -> String?
    private let transport: any MailTransport
    private let format: MailFormat
    private let delivered = Lock<[Delivered]>([])

    package var keepsIncidents: Bool { false }

    /// - Parameter password: reads the password for each message; while it cannot be read, the message is retried.
    package init(
        _ settings: MailSettings,
        transport: any MailTransport,
        password: @escaping @Sendable () throws(UnreadableSecret) -> String?
    ) {
        (self.settings, self.password, self.transport) = (settings, password, transport)
        format = MailFormat(from: settings.sender, to: settings.recipients)
    }

    package func send(_ queued: QueuedMessage) async -> SendingResult {
        guard let message = queued.message else {
            return SendingResult(.refused(reason: "another version of the monitor has queued the message"))
        }
        let password: String?
        do throws(UnreadableSecret) { password = try self.password() } catch {
            return SendingResult(.retry(after: nil, reason: error.description))
        }
        let bytes = format.bytes(for: message)
        var state = delivered.withLock { $0.first { $0.message == queued.id } } ?? Delivered(message: queued.id)
        var (answer, failure) = (String?.none, DeliveryOutcome?.none)
        for recipient in settings.recipients.map(\.address) {
            if state.recipients.contains(recipient) || state.refused[recipient] != nil { continue }
            if Task.isCancelled {
                failure = failure ?? .retry(after: nil, reason: "SMTP: the server took too long")
                break
            }
            do throws(MailError) {
                answer = try await transport.send(mail(bytes, to: recipient, password))
                state.recipients.insert(recipient)
            } catch {
                switch error {
                case .refused(let reason), .tooLarge(let reason): state.refused[recipient] = reason
                case .temporary(let reason): failure = failure ?? .retry(after: nil, reason: reason)
                case .unauthorized(let reason): failure = .unauthorized(reason: reason)
                }
            }
            remember(state)
            // A server that takes no mail at all is not asked for each recipient.
            if case .unauthorized? = failure { break }
        }
        return SendingResult(settle(state, failure), answer: answer)
    }

    private func mail(_ bytes: [UInt8], to recipient: String, _ password: String?) -> Mail {
        let encryption: Mail.Encryption =
            switch settings.encryption {
            case .implicit: .implicit
            case .startTLS: .startTLS
            case .none: .none
            }
        return Mail(
            server: settings.server,
            encryption: encryption,
            login: settings.user.flatMap { user in password.map { (user, $0) } },
            sender: settings.sender.address,
            recipient: recipient,
            message: bytes,
            additionalCAFile: settings.authorities
        )
    }

    private func remember(_ state: Delivered) {
        delivered.withLock { all in
            all.removeAll { $0.message == state.message }
            all = Array(all.suffix(Self.mostRemembered - 1)) + [state]
        }
    }

    /// What is left to do: nothing once each recipient has the mail or was refused.
    private func settle(_ state: Delivered, _ failure: DeliveryOutcome?) -> DeliveryOutcome {
        if let failure { return failure }
        delivered.withLock { $0.removeAll { $0.message == state.message } }
        guard !state.refused.isEmpty else { return .acknowledged }
        let reasons = state.refused.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        let reason = reasons.joined(separator: "; ").excerpt(toBytes: 500)
        if state.recipients.isEmpty { return .refused(reason: reason) }
        // Some recipients have the mail; the queue keeps the reason for the others with the message.
        return .acknowledgedExcept([SampleID(high: 0, low: 0): "not to all recipients: \(reason)"])
    }
}
