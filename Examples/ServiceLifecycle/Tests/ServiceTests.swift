import Foundation
import Instrument
import InstrumentServiceLifecycle
import InstrumentTestKit
import ServiceLifecycleTestKit
import Testing

@Suite("Instrument service")
struct ServiceTests {
    // Only a flush delivers samples.
    private let backend = CollectingBackend(policy: DeliveryPolicy(maxAge: .seconds(600)))

    private func waitUntil(_ isSo: () -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(20)
        while !isSo(), ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(5)) }
        #expect(isSo())
    }

    private func queued(in instrument: Instrument) -> Int {
        instrument.queue.ledger.values.reduce(0) { $0 + Int($1.queued) }
    }

    @Test("The service runs until the shutdown, then delivers the queued samples, the end event last")
    func shutDown() async throws {
        let instrument = Instrument(hub: NoOpHub(), metricalc: nil, backends: [backend])
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await InstrumentService(instrument).run() }
                try await waitUntil { queued(in: instrument) == 1 }
                #expect(backend.events.isEmpty)
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
        #expect(backend.events.map(\.action) == [Action("AppActive"), Action("AppTerminating")])
        // The app owns the instrument, which continues to work.
        instrument.emit(Action("Later"), from: instrument.add(Quiet()))
        #expect(queued(in: instrument) == 1)
        await instrument.shutdown(timeout: .seconds(5))
        #expect(backend.events.last?.action == Action("Later"))
    }

    @Test("The service waits for the grace period when a backend does not respond, and the samples stay queued")
    func refused() async throws {
        let outcomes = Array(repeating: DeliveryOutcome.retry(after: .seconds(60), reason: "busy"), count: 50)
        let refusing = CollectingBackend(policy: DeliveryPolicy(maxAge: .seconds(600)), script: outcomes)
        let instrument = Instrument(hub: NoOpHub(), metricalc: nil, backends: [refusing])
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await InstrumentService(instrument, grace: .milliseconds(50)).run() }
                try await waitUntil { queued(in: instrument) == 1 }
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
        #expect(queued(in: instrument) == 2)
        await instrument.shutdown(timeout: .zero)
    }

    @Test("The service delivers the queued samples when it is cancelled, and throws a cancellation error")
    func cancelled() async throws {
        let instrument = Instrument(hub: NoOpHub(), metricalc: nil, backends: [backend])
        let task = Task { try await InstrumentService(instrument).run() }
        try await waitUntil { queued(in: instrument) == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(backend.events.map(\.action) == [Action("AppActive"), Action("AppTerminating")])
        await instrument.shutdown(timeout: .seconds(5))
    }
}

private final class Quiet: Tracker {
    func begin(in context: TrackerContext) {}
}
