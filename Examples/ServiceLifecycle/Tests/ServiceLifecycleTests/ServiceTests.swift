import Foundation
import Instrument
import InstrumentServiceLifecycle
import InstrumentTestKit
import ServiceLifecycleTestKit
import Testing

@Suite("An instrument as a service")
struct ServiceTests {
    // Nothing is delivered but by a flush.
    private let backend = CollectingBackend(policy: DeliveryPolicy(maxAge: .seconds(600)))

    private func waitUntil(_ isSo: () -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(20)
        while !isSo(), ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(5)) }
        #expect(isSo())
    }

    private func queued(in instrument: Instrument) -> Int {
        instrument.queue.ledger.values.reduce(0) { $0 + Int($1.queued) }
    }

    @Test("It runs until it is shut down; then what waits is delivered, the end last")
    func shutDown() async throws {
        let instrument = Instrument(hub: NoOpHub(), backends: [backend])
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
        // The instrument is the app's, and goes on.
        instrument.emit(Action("Later"), from: instrument.add(Quiet()))
        #expect(queued(in: instrument) == 1)
        await instrument.shutdown(timeout: .seconds(5))
        #expect(backend.events.last?.action == Action("Later"))
    }

    @Test("A backend that takes nothing costs the grace, and the samples stay")
    func refused() async throws {
        let outcomes = Array(repeating: DeliveryOutcome.retry(after: .seconds(60), reason: "busy"), count: 50)
        let refusing = CollectingBackend(policy: DeliveryPolicy(maxAge: .seconds(600)), script: outcomes)
        let instrument = Instrument(hub: NoOpHub(), backends: [refusing])
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

    @Test("Cancelled instead of shut down, it delivers all the same, and says that it was cancelled")
    func cancelled() async throws {
        let instrument = Instrument(hub: NoOpHub(), backends: [backend])
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
