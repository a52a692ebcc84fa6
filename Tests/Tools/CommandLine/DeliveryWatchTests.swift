import Instrument
import InstrumentCommandLine
import InstrumentTestKit
import Testing

@Suite("What a run did not deliver")
struct DeliveryWatchTests {
    private final class Receiver: Backend {
        let name: BackendName = "alerts:ops"
        func deliver(_ batch: Batch) async -> DeliveryOutcome { .acknowledged }
    }

    /// The lines about a store that refuses a second sample.
    private func lines(_ content: DeliveryWatch.Content, _ directory: String?) -> [String] {
        let (receiver, clock) = (Receiver(), VirtualClock())
        let store = InMemoryStore(limits: QueueLimits(maxCount: 1, whenFull: .refuseNew))
        store.attach(receiver.name)
        let watch = DeliveryWatch([receiver], in: store, queue: directory, of: content)
        for _ in 0..<2 {
            do {
                _ = try store.append([.event(Event(.ping, tracker: TrackerID(0), time: clock.timestamp))])
            } catch { watch.note(Diagnostic.notQueued(QueueError(.diskFull, "no space is left"))) }
        }
        return watch.lines()
    }

    @Test("Messages are called messages, and a message that the queue took later was not lost")
    func messages() {
        let first = "player-monitor: 1 message was not delivered to alerts:ops: 1 waiting"
        let kept = "  Waiting messages stay in the queue: the next run or 'player-monitor queue flush' delivers them."
        #expect(lines(.messages, "/state/alerts") == [first, kept])
        let lost = "  These messages are lost. With --state DIR they stay in that directory for the next run."
        #expect(lines(.messages, nil) == [first, lost])
    }

    @Test("Samples that the queue rejected count as lost")
    func samples() {
        let expected = [
            "player-monitor: 2 samples were not delivered to alerts:ops: 1 waiting, 1 dropped (refused)",
            "player-monitor: the queue rejected some samples", "  not queued: no space is left (1)",
            "  Waiting samples stay in the queue: the next run or 'player-monitor queue flush' delivers them.",
        ]
        #expect(lines(.samples, "/queue") == expected)
    }
}
