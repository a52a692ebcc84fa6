import Instrument
import InstrumentMonitor
import InstrumentMonitorRuntime
import InstrumentWatch
import Testing

@Suite("What fires is sent again")
struct MessageResenderTests {
    /// A service with the answer that a test chooses.
    private final class Service: MessageSender {
        let keepsIncidents = true
        let outcome = Lock(DeliveryOutcome.acknowledged)
        let isAsked = Gate()

        func send(_ message: QueuedMessage) async -> SendingResult {
            isAsked.open()
            return SendingResult(outcome.withLock { $0 })
        }
    }

    private func firing() throws -> Drive {
        let down = try alert("down", "up == 0")
        var drive = Drive(configuration([try stream("a")], [down]), ["a": .fails(after: .seconds(1), code: "x")])
        drive.run(for: .seconds(60))
        return drive
    }

    @Test("A service that has gone since its message is visible, and so is that it is back")
    func health() async throws {
        let drive = try firing()
        let health = ReceiverHealth()
        let resender = MessageResender(health: health)
        let service = Service()
        resender.add("ops", service)
        #expect(await resender.resend(drive.model, at: drive.now).isEmpty)
        #expect(health.failing.isEmpty)
        service.outcome.withLock { $0 = .retry(after: nil, reason: "no connection") }
        #expect(await resender.resend(drive.model, at: drive.now) == ["ops": "no connection"])
        #expect(health.failing.map(\.receiver) == ["ops"])
        #expect(health.failing.map(\.reason) == ["no connection"])
        service.outcome.withLock { $0 = .acknowledged }
        #expect(await resender.resend(drive.model, at: drive.now).isEmpty)
        #expect(health.failing.isEmpty)
    }

    @Test("A service that never answers delays no other one, whose alerts would end")
    func hanging() async throws {
        let (slow, quick) = (Hanging(), Service())
        let resender = MessageResender()
        resender.add("ops", slow)
        resender.add("prom", quick)
        // Both know of the incident.
        var both = try alert("down", "up == 0")
        both.receivers = ["ops", "prom"]
        var told = Drive(configuration([try stream("a")], [both]), ["a": .fails(after: .seconds(1), code: "x")])
        told.run(for: .seconds(60))
        let (model, now) = (told.model, told.now)
        let round = Task { await resender.resend(model, at: now) }
        await slow.isAsked.wait()
        await quick.isAsked.wait()
        slow.mayAnswer.open()
        #expect(await round.value == ["ops": "late"])
    }

    private final class Hanging: MessageSender {
        let keepsIncidents = true
        let (isAsked, mayAnswer) = (Gate(), Gate())

        func send(_ message: QueuedMessage) async -> SendingResult {
            isAsked.open()
            _ = await mayAnswer.wait()
            return SendingResult(.retry(after: nil, reason: "late"))
        }
    }
}
