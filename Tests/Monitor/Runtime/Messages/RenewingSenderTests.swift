import Instrument
import InstrumentMonitor
import InstrumentMonitorRuntime
import Testing

@Suite("Secrets that change")
struct RenewingSenderTests {
    /// Says with which secret a message was sent.
    private struct Service: MessageSender {
        let keepsIncidents = true
        let secret: String

        func send(_ message: QueuedMessage) async -> SendingResult { SendingResult(.acknowledged, answer: secret) }
    }

    @Test("Each message is sent with the secret of its time; without one, it waits, and the reason is known")
    func renewed() async {
        let secret = Lock<String?>("one")
        let sender = RenewingSender(keepsIncidents: true) { () throws(UnreadableSecret) in
            guard let text = secret.withLock({ $0 }) else { throw UnreadableSecret("the file x has gone") }
            return Service(secret: text)
        }
        #expect(sender.keepsIncidents)
        let message = QueuedMessage(id: "1", body: "{}")
        #expect(await sender.send(message) == SendingResult(.acknowledged, answer: "one"))
        secret.withLock { $0 = nil }
        #expect(await sender.send(message) == SendingResult(.retry(after: nil, reason: "the file x has gone")))
        secret.withLock { $0 = "two" }
        #expect(await sender.send(message) == SendingResult(.acknowledged, answer: "two"))
    }
}
