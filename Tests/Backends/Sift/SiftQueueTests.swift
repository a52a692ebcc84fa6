import Instrument
import InstrumentSensors
import Testing

@testable import InstrumentSift

@Suite("The rules of a queue")
struct SiftQueueTests {
    private func time(_ seconds: Int64) -> WallTime {
        WallTime(milliseconds: Make.wallTime.milliseconds + seconds * 1000)
    }

    private func event(_ seconds: Int64, _ change: (inout SiftEvent) -> Void = { _ in }) -> SiftEvent {
        var event = FullEvent.make()
        event.time = time(seconds)
        change(&event)
        return event
    }

    @Test("An equal event with any time is not taken again for an hour")
    func same() {
        let queue = SiftQueue.deviceProperties
        let memory = SiftQueueMemory(lastEvent: event(0))
        #expect(!queue.accepts(event(5), after: memory, now: time(5)))
        #expect(!queue.accepts(event(3599), after: memory, now: WallTime(milliseconds: time(3600).milliseconds - 1)))
        #expect(queue.accepts(event(3600), after: memory, now: time(3600)))
        #expect(queue.accepts(event(9), after: SiftQueueMemory(), now: time(9)))
        #expect(!queue.accepts(event(-9), after: memory, now: time(-9)))
    }

    @Test("An event with any difference is taken immediately")
    func different() {
        let memory = SiftQueueMemory(lastEvent: event(0))
        let changes: [@Sendable (inout SiftEvent) -> Void] = [
            { $0.type = "other" }, { $0.path = nil }, { $0.userID = "other" }, { $0.installationID = nil },
            { $0.fields?["language"] = nil }, { $0.metrics = [:] }, { $0.legacyDeviceProperties = nil },
            { $0.appState?.batteryLevel = 0.25 }, { $0.deviceProperties?.appName = nil },
            { $0.appState?.motion = [] },
        ]
        for change in changes {
            #expect(SiftQueue.deviceProperties.accepts(event(1, change), after: memory, now: time(1)))
        }
        #expect(!SiftQueue.deviceProperties.accepts(event(1), after: memory, now: time(1)))
        #expect(SiftQueue.standard.accepts(event(1), after: memory, now: time(1)))
    }

    @Test("An event with NaN is equal to itself")
    func notANumber() {
        let odd = event(0) { $0.appState?.heading?.accuracy = .nan }
        let memory = SiftQueueMemory(lastEvent: odd)
        #expect(!SiftQueue.deviceProperties.accepts(odd, after: memory, now: time(1)))
    }

    @Test(
        "The standard queue is ready with 33 events, or with one if the last upload is more than a minute ago",
        arguments: [
            (0, 1_000_000, false), (1, 60, false), (32, 60, false), (33, 0, true), (33, -50, true), (1, 61, true),
            (1, -1, false),
        ]
    )
    func standard(count: Int, seconds: Int64, isReady: Bool) {
        let memory = SiftQueueMemory(lastUpload: time(0))
        #expect(SiftQueue.standard.isReady(count: count, after: memory, now: time(seconds)) == isReady)
    }

    @Test("The first event is uploaded immediately")
    func first() {
        #expect(SiftQueue.standard.isReady(count: 1, after: SiftQueueMemory(), now: time(0)))
        #expect(!SiftQueue.standard.isReady(count: 0, after: SiftQueueMemory(), now: time(0)))
    }

    @Test("Device properties are uploaded one by one; a queue with all rules off is never ready")
    func others() {
        let memory = SiftQueueMemory(lastUpload: time(0))
        #expect(SiftQueue.deviceProperties.isReady(count: 1, after: memory, now: time(0)))
        #expect(!SiftQueue.deviceProperties.isReady(count: 0, after: memory, now: time(1_000_000)))
        let off = SiftQueue("off", acceptSameEventAfter: .zero, uploadWhenMoreThan: -1, uploadWhenOlderThan: .zero)
        #expect(!off.isReady(count: .max, after: SiftQueueMemory(), now: time(0)))
    }

    @Test("The shared queue has the same rules, within the limit of a body")
    func policy() {
        let standard = SiftQueue.standard.policy(limit: 100, maxBytes: 7)
        #expect(standard == DeliveryPolicy(maxCount: 33, maxBytes: 7, maxAge: .seconds(60), timeout: nil))
        #expect(SiftQueue.standard.policy(limit: 5, maxBytes: 7).maxCount == 5)
        let properties = SiftQueue.deviceProperties.policy(limit: 100, maxBytes: 7)
        #expect(properties == DeliveryPolicy(maxCount: 100, maxBytes: 7, maxAge: .zero, timeout: nil))
        let off = SiftQueue("off", acceptSameEventAfter: .zero, uploadWhenMoreThan: -1, uploadWhenOlderThan: .zero)
        #expect(off.policy(limit: 100, maxBytes: 7).maxAge > .seconds(86_400 * 365))
        let huge = SiftQueue("huge", acceptSameEventAfter: .zero, uploadWhenMoreThan: .max, uploadWhenOlderThan: .zero)
        #expect(huge.policy(limit: 100, maxBytes: 7).maxCount == 100)
    }

    @Test("Rules do not trap when the clock is wrong", arguments: [Int64.min, -1, 0, .max])
    func strangeClocks(milliseconds: Int64) {
        let now = WallTime(milliseconds: milliseconds)
        for last in [Int64.min, 0, .max] {
            let memory = SiftQueueMemory(
                lastEvent: SiftEvent(time: WallTime(milliseconds: last)),
                lastUpload: WallTime(milliseconds: last)
            )
            for queue in [SiftQueue.standard, .deviceProperties] {
                _ = queue.accepts(SiftEvent(time: now), after: memory, now: now)
                _ = queue.isReady(count: 1, after: memory, now: now)
            }
        }
    }
}
