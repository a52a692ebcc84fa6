import Dispatch
import Foundation
import Instrument
import InstrumentTestKit
import InstrumentTrackers
import Testing

@Suite("App lifecycle")
struct LifecycleTests {
    private let clock = VirtualClock()
    private let life = ScriptedLifecycle()
    // Nothing is delivered but by a flush.
    private let backend = CollectingBackend(policy: DeliveryPolicy(maxAge: .seconds(1_000_000)))

    private func makeInstrument() -> Instrument {
        let instrument = Instrument(
            hub: CoreHub(),
            metricalc: nil,
            backends: [backend],
            clock: clock,
            deliveryClock: SystemClock()
        )
        instrument.add(LifecycleTracker(life, flushing: instrument.queue))
        return instrument
    }

    /// As the system does: on a thread without a task.
    private func enter(_ phase: LifecyclePhase) async {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "life").async {
                life.enter(phase)
                continuation.resume()
            }
        }
    }

    @Test("The privacy manifest of Instrument covers the fields of the app's life")
    func privacyManifest() {
        let covered = PrivacyManifest(.vocabulary)
        #expect(PrivacyManifest(.vocabulary.merging(.lifecycle)).propertyList == covered.propertyList)
    }

    @Test("Each phase is an event, and entering the background delivers queued samples before the source continues")
    func flushes() async {
        let instrument = makeInstrument()
        for phase in [LifecyclePhase.active, .memoryPressure, .inactive] { await enter(phase) }
        #expect(backend.events.isEmpty)
        await enter(.background)
        #expect(backend.events.map(\.action) == [.appActive, .memoryPressure, .appInactive, .appBackground])
        await enter(.foreground)
        await enter(.terminating)
        #expect(backend.events.last?.action == .appTerminating)
        #expect(backend.events.allSatisfy { $0[.trackerTarget] == "app" })
        await instrument.shutdown(timeout: .seconds(1800))
        #expect(!life.isObserved)
    }

    @Test("A flush on a thread ends at its deadline, and returns its result")
    func deadline() async {
        let refusing = CollectingBackend(
            script: Array(repeating: .retry(after: .seconds(60), reason: "busy"), count: 50)
        )
        let instrument = Instrument(hub: CoreHub(), metricalc: nil, backends: [refusing], deliveryClock: SystemClock())
        let (settled, nothing) = await withCheckedContinuation { continuation in
            DispatchQueue(label: "life").async {
                let nothing = instrument.queue.flushAndWait(timeout: .milliseconds(100))
                instrument.emit(Action("Hello"), from: instrument.add(Quiet()))
                continuation.resume(returning: (instrument.queue.flushAndWait(timeout: .milliseconds(100)), nothing))
            }
        }
        #expect(nothing && !settled)
        await instrument.shutdown(timeout: .zero)
    }

    #if os(Linux)
    @Test("Sleep is reported with its duration at the next read, and a small difference of the clocks is not")
    func sleep() {
        let asleep = Lock(Duration.seconds(100))
        let source = SystemLifecycle(clock: clock, pressureFile: "/nonexistent") { asleep.withLock { $0 } }
        let seen = Lock([LifecycleNotice]())
        source.report { notice in seen.withLock { $0.append(notice) } }
        clock.advance(by: .seconds(60))
        asleep.withLock { $0 += .milliseconds(20) }
        clock.advance(by: .seconds(60))
        #expect(seen.withLock { $0.isEmpty })
        asleep.withLock { $0 += .seconds(3600) }
        clock.advance(by: .seconds(5))
        #expect(seen.withLock { $0.map(\.phase) } == [.resumed])
        #expect(seen.withLock { $0.first?.attributes[.sleepTime] } == .seconds(3600))
        source.report(to: nil)
        #expect(clock.pendingCount == 0)
    }

    @Test("An observer that is replaced during a read leaves one scheduled read")
    func exchanged() {
        let asleep = Lock(Duration.zero)
        let source = SystemLifecycle(clock: clock, pressureFile: "/nonexistent") { asleep.withLock { $0 } }
        source.report { [source] _ in source.report { _ in } }
        asleep.withLock { $0 += .seconds(10) }
        clock.advance(by: .seconds(5))
        #expect(clock.pendingCount == 1)
        source.report(to: nil)
        #expect(clock.pendingCount == 0)
    }

    @Test("Memory pressure is reported once until it ends; an absent or invalid file reports no pressure")
    func pressure() throws {
        let path = NSTemporaryDirectory() + "instrument-pressure-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let source = SystemLifecycle(clock: clock, pressureFile: path) { .zero }
        let count = Lock(0)
        source.report { _ in count.withLock { $0 += 1 } }
        for (value, expected) in [
            ("", 0), ("0.00", 0), ("9.99", 0), ("10.00", 1), ("80.5", 1), ("5.1", 1), ("12", 1), ("4.9", 1), ("11", 2),
            ("nan", 2), ("x", 2),
        ] {
            let text = "some avg10=\(value) avg60=0.00 avg300=0.00 total=0\nfull avg10=99.00 avg60=0 avg300=0 total=0\n"
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            clock.advance(by: .seconds(5))
            #expect(count.withLock { $0 } == expected, "at \(value)")
        }
    }

    @Test("The time asleep of the test machine does not decrease")
    func clocks() {
        let first = SystemLifecycle.timeAsleep()
        #expect(SystemLifecycle.timeAsleep() - first > .milliseconds(-10))
    }
    #endif
}

private final class Quiet: Tracker {
    func begin(in context: TrackerContext) {}
}
