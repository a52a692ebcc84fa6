import Instrument
import InstrumentMonitor
import InstrumentTestKit
import Testing

@testable import InstrumentMonitorRuntime

@Suite("Messages that the queue does not take")
struct QueueSinkTests {
    private final class Receiver: Backend {
        let name: BackendName = "alerts:ops"
        let policy = DeliveryPolicy(maxCount: 1, maxAge: .zero, dueCount: 1)
        let service: ServiceName? = ReceiverBackend.service(of: "ops")
        let identifiers = Lock<[String]>([])

        func deliver(_ batch: Batch) async -> DeliveryOutcome {
            for case .event(let event) in batch.records.map(\.sample) {
                identifiers.withLock { $0.append(event[.alertMessageId] ?? "") }
            }
            return .acknowledged
        }
    }

    /// A store on a disk that may be full.
    private final class DiskStore: ForwardingStore {
        let store = InMemoryStore()
        let isFull = Lock(false)

        func append(_ samples: [Sample]) throws(QueueError) -> Int {
            if isFull.withLock({ $0 }) { throw QueueError(.diskFull, "no space is left") }
            return try store.append(samples)
        }
    }

    private let disk = DiskStore()
    private let receiver = Receiver()
    private let clock = VirtualClock()

    private func message(_ stream: String) -> AlertMessage {
        var message = AlertMessage(alert: "down", host: "h", reason: "r", kind: .opens)
        message.receivers = ["ops"]
        message.add(AlertMessage.Item(stream: stream, since: clock.timestamp.wallTime))
        message.seal()
        return message
    }

    @Test("A message for which the disk had no room is sent once there is room, before later ones, while running")
    func fullDisk() async {
        let queue = BatchQueue(store: disk, backends: [receiver])
        let sink = QueueSink(queue, clock: clock)
        let messages = ["first", "second", "third"].map(message)
        disk.isFull.withLock { $0 = true }
        sink.send(messages[0])
        sink.retry()
        #expect(sink.unqueued == "1 message about alerts was not queued and will not be sent: no space is left")
        sink.send(messages[1])
        #expect(sink.unqueued == "2 messages about alerts were not queued and will not be sent: no space is left")
        disk.isFull.withLock { $0 = false }
        sink.retry()
        #expect(sink.unqueued == nil)
        sink.send(messages[2])
        sink.retry()
        #expect(await queue.flush(timeout: .seconds(600)))
        #expect(receiver.identifiers.withLock { $0 } == messages.map(\.id))
        _ = await queue.shutdown(timeout: .seconds(600))
    }

    @Test("A later message takes the earlier ones with it, and memory is bounded")
    func bound() async {
        let queue = BatchQueue(store: disk, backends: [receiver])
        let sink = QueueSink(queue, clock: clock)
        disk.isFull.withLock { $0 = true }
        for number in 0..<QueueSink.mostWaiting + 5 { sink.send(message("\(number)")) }
        disk.isFull.withLock { $0 = false }
        sink.send(message("last"))
        #expect(sink.unqueued?.hasPrefix("5 messages about alerts were not queued") == true)
        #expect(await queue.flush(timeout: .seconds(600)))
        let expected = (0..<QueueSink.mostWaiting).map { message("\($0)").id } + [message("last").id]
        #expect(receiver.identifiers.withLock { $0 } == expected)
        _ = await queue.shutdown(timeout: .seconds(600))
    }

    @Test("While the sink runs, a message that waits is offered at every interval, and no longer once it is cancelled")
    func run() async {
        let queue = BatchQueue(store: disk, backends: [receiver])
        let sink = QueueSink(queue, clock: clock)
        disk.isFull.withLock { $0 = true }
        sink.send(message("first"))
        let running = Task { await sink.run() }
        await passInterval()
        #expect(sink.unqueued != nil)
        disk.isFull.withLock { $0 = false }
        await passInterval()
        #expect(sink.unqueued == nil)
        running.cancel()
        await running.value
        #expect(clock.pendingCount == 0)
        _ = await queue.shutdown(timeout: .seconds(600))
    }

    /// Lets an interval pass, and waits until what it brings has been done.
    private func passInterval() async {
        await clock.waitUntilPending()
        clock.advance(by: QueueSink.retryInterval)
        await clock.waitUntilPending()
    }
}
