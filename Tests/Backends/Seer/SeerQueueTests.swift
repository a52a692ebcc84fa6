import Foundation
import Instrument
import InstrumentDurableQueue
import InstrumentJSON
import InstrumentTestKit
import InstrumentTransport
import InstrumentXAPI
import TestTraits
import Testing

@testable import InstrumentSeer

@Suite("Seer's queue", .ownThread)
struct SeerQueueTests {
    @Test(
        "The queue sends all payloads in batches within the limit, one type each, in their envelopes",
        arguments: [1024, 102_400]
    )
    func batches(limit: Int) async throws {
        let service = try SeerService()
        let listener = try Listener(service) { $0.setMaxBatchBytes(limit) }
        var generator = SeededGenerator(seed: 5)
        for number in 0..<120 {
            let payload =
                number % 3 == 0
                ? Given.tinCan("\(number)")
                : Given.activity("\(number)", filler: .random(in: 1...300, using: &generator))
            #expect(listener.client.queue(payload).isQueued)
        }
        #expect(listener.client.queuedCount == 120)
        let response = await listener.reportQueue()
        #expect(response.isSuccess && response.requestIDs.count == 120)
        #expect(service.requests.allSatisfy { $0.body.count <= limit })
        for request in service.requests {
            let isActivities = request.body.starts(with: Array(#"{"activities":["#.utf8))
            #expect(request.path == (isActivities ? "/api/sactivity/batch" : "/api/tincan/batch"))
            #expect(isActivities || request.body.first == UInt8(ascii: "["))
        }
        let numbers = service.arrived.compactMap { Int($0) }
        #expect(numbers.filter { $0 % 3 == 0 } == Array(stride(from: 0, to: 120, by: 3)))
        #expect(numbers.filter { $0 % 3 != 0 } == (0..<120).filter { $0 % 3 != 0 })
        #expect(service.requests.count == 2 || limit == 1024)
        #expect(listener.responses.filter { $0.event == .queuedBatch }.count == service.requests.count)
    }

    @Test("A batch is filled to the last byte and not beyond")
    func exactSize() {
        let size = Given.activity("a").json.bytes.count
        let limit = 17 + 3 * size + 2
        for (bytes, count) in [(limit, 3), (limit - 1, 2), (17 + size, 1), (16 + size, 0)] {
            #expect(SeerPayload.Kind.activity.count(of: [size, size, size, size], fitting: bytes) == count)
        }
        #expect(SeerPayload.Kind.activity.body(of: [Given.activity("a").json.bytes]).count == 17 + size)
    }

    @Test("A payload larger than a batch is sent alone and does not block the others")
    func tooLarge() async throws {
        let service = try SeerService()
        let listener = try Listener(service) { $0.setMaxBatchBytes(1024) }
        listener.client.queue(Given.activity("1"))
        listener.client.queue(Given.activity("large", filler: 5000))
        listener.client.queue(Given.activity("2"))
        #expect(await listener.reportQueue().isSuccess)
        #expect(service.arrived == ["1", "large", "2"])
        #expect(service.requests.map(\.path) == ["/api/sactivity/batch", "/api/sactivity", "/api/sactivity/batch"])
    }

    @Test("Instrumentation is sent one at a time until a batch endpoint is added")
    func instrumentation() async throws {
        for hasBatches in [false, true] {
            let service = try SeerService()
            let listener = try Listener(service) { configuration in
                if hasBatches { configuration.endpoints.addEndpoint("/many", name: .instrumentationBatch) }
            }
            for id in ["1", "2"] { listener.client.queue(Given.instrumentation(id)) }
            #expect(await listener.reportQueue().isSuccess)
            let single = "/api/sinstrumentation"
            #expect(service.requests.map(\.path) == (hasBatches ? ["/api/many"] : [single, single]))
            #expect(service.arrived == ["1", "2"])
        }
    }

    @Test("The report of an empty queue has one response, and each payload of a batch has one when configured")
    func responses() async throws {
        let service = try SeerService()
        let listener = try Listener(service) { $0.receiveQueuedItemResponses = true }
        let empty = await listener.reportQueue()
        #expect(empty.isSuccess && empty.requestIDs.isEmpty)
        #expect(listener.responses == [empty])
        let ids = ["1", "2", "3"].map { listener.client.queue(Given.activity($0)).requestID }
        let last = await listener.reportQueue()
        let told = listener.responses.dropFirst(4)
        #expect(told.map(\.event) == [.queuedBatch, .activityReport, .activityReport, .activityReport, .queueReport])
        #expect(told.first?.requestIDs == ids)
        #expect(told.dropFirst().prefix(3).map(\.requestID) == ids)
        #expect(told.last == last)
    }

    @Test("A failed report keeps the queue and is reported")
    func failure() async throws {
        let service = try SeerService()
        let listener = try Listener(service)
        for id in ["1", "2"] { listener.client.queue(Given.activity(id)) }
        service.answer("503 Busy")
        let failed = await listener.reportQueue()
        #expect(failed.error?.code == .unavailable && failed.requestIDs.isEmpty)
        #expect(listener.client.queuedCount == 2)
        #expect(await listener.reportQueue().isSuccess)
        #expect(service.arrived == ["1", "2"])
    }

    @Test("Queued payloads survive restarts and unsettled batches, without losses and in order")
    func restarts() async throws {
        let service = try SeerService()
        let home = Home()
        for round in 0..<3 {
            let store = try home.store()
            let listener = try Listener(service, store: store, memory: home.memory) { $0.autoReportQueue = false }
            for number in 0..<10 { listener.client.queue(Given.activity("\(round * 10 + number)")) }
            #expect(listener.client.queuedCount == (round + 1) * 10)
            store.close()
        }
        let store = try home.store()
        let listener = try Listener(service, store: store, memory: home.memory)
        service.setDown(true)
        #expect(await !listener.reportQueue().isSuccess)
        service.setDown(false)
        #expect(await listener.reportQueue().isSuccess)
        #expect(service.arrived == (0..<30).map { "\($0)" })
        store.close()
        let again = try home.store()
        #expect(try Listener(service, store: again, memory: home.memory).client.queuedCount == 0)
        again.close()
    }

    @Test("Queued payloads survive a kill at any time, also during a request")
    func killed() async throws {
        let service = try SeerService()
        let home = Home()
        let store = try home.store()
        let listener = try Listener(service, store: store, memory: home.memory) { configuration in
            configuration.autoReportQueue = false
            configuration.setMaxBatchBytes(1024)
        }
        for round in 0..<12 {
            switch round % 4 {
            case 0:
                for number in 0..<7 { listener.client.queue(Given.activity("\(round)-\(number)")) }
            case 1: listener.client.queue(Given.tinCan("\(round)"))
            case 2:
                // One batch leaves, the next does not.
                service.answer("200 OK", "503 Busy")
                _ = await listener.reportQueue()
            default:
                service.setDown(true)
                #expect(await listener.report(Given.activity("\(round)")).isQueued)
                service.setDown(false)
            }
            // A copy of the files now equals the state that a killed process would leave.
            let left = Home()
            try FileManager.default.copyItem(atPath: home.path, toPath: left.path)
            let next = try left.store()
            let heir = try Listener(service, store: next, memory: home.memory)
            #expect(heir.client.queuedCount == listener.client.queuedCount)
            #expect(heir.client.queuedBytes == listener.client.queuedBytes)
            next.close()
        }
        #expect(listener.client.queuedCount > 0)
        #expect(await listener.reportQueue().isSuccess)
        #expect(Set(service.arrived).count == service.arrived.count)
        #expect(service.arrived.count == 3 * 9)
        store.close()
    }

    @Test("A full queue evicts just enough of the oldest payloads of any type, and names them")
    func removesOld() throws {
        let service = try SeerService()
        let size = Given.activity("10").json.bytes.count
        let listener = try Listener(service) { $0.maxQueueBytes = 3 * size }
        let ids = ["10", "11", "12"].map { listener.client.queue(Given.activity($0)) }
        #expect(ids.allSatisfy { $0.isQueued && $0.removedIDs.isEmpty })
        #expect(listener.client.queuedBytes == 3 * size)
        let next = listener.client.queue(Given.activity("13"))
        #expect(next.isQueued && next.removedIDs == [ids[0].requestID])
        let larger = listener.client.queue(Given.activity("14", filler: 1))
        #expect(larger.removedIDs == [ids[1].requestID, ids[2].requestID])
        #expect(listener.client.queuedCount == 2)
        let huge = listener.client.queue(Given.activity("15", filler: 4 * size))
        #expect(huge.error?.code == .queueFull && !huge.isQueued && huge.removedIDs.isEmpty)
        #expect(listener.client.queuedCount == 2)
    }

    @Test("A full queue without eviction refuses new payloads with error 9, and stores nothing")
    func refusesNew() throws {
        let service = try SeerService()
        let size = Given.activity("10").json.bytes.count
        let listener = try Listener(service) { configuration in
            (configuration.maxQueueBytes, configuration.removeOldItemsWhenFullDB) = (2 * size, false)
        }
        for id in ["10", "11"] { #expect(listener.client.queue(Given.activity(id)).isQueued) }
        let refused = listener.client.queue(Given.activity("12"))
        #expect(refused.error?.code.number == 9 && !refused.isQueued)
        #expect(listener.client.queuedBytes == 2 * size)
    }

    @Test("A full disk gives error 10, with eviction only after a second attempt")
    func diskFull() throws {
        let service = try SeerService()
        let disk = SmallDisk()
        let keeping = try Listener(service, store: disk) { $0.removeOldItemsWhenFullDB = false }
        #expect(keeping.client.queue(Given.activity("1")).isQueued)
        disk.failures.withLock { $0 = 1 }
        #expect(keeping.client.queue(Given.activity("2")).error?.code.number == 10)
        #expect(keeping.client.queuedCount == 1)
        let other = SmallDisk()
        let removing = try Listener(service, store: other)
        let first = removing.client.queue(Given.activity("1"))
        other.failures.withLock { $0 = 1 }
        let second = removing.client.queue(Given.activity("2"))
        #expect(second.isQueued && second.removedIDs == [first.requestID])
        other.failures.withLock { $0 = 2 }
        let third = removing.client.queue(Given.activity("3"))
        #expect(third.error?.code.number == 10 && third.removedIDs == [second.requestID])
        #expect(removing.client.queuedCount == 0)
    }

    @Test("A payload that the store can read only later is sent, and not passed with the next one")
    func lateReading() async throws {
        let service = try SeerService()
        let disk = SmallDisk()
        let listener = try Listener(service, store: disk)
        #expect(listener.client.queue(Given.activity("1")).isQueued)
        disk.isUnreadable.withLock { $0 = true }
        #expect(listener.client.queue(Given.activity("2")).isQueued)
        disk.isUnreadable.withLock { $0 = false }
        #expect(listener.client.queue(Given.activity("3")).isQueued)
        #expect(await listener.reportQueue().isSuccess)
        #expect(service.arrived == ["1", "2", "3"])
        #expect(listener.client.queuedCount == 0)
    }

    @Test("A queue that is filled and reported repeatedly stays small")
    func space() async throws {
        let service = try SeerService()
        let home = Home()
        let store = try DurableStore(
            directory: home.path,
            configuration: DurableConfiguration(segmentSize: 64 << 10, synchronization: .never)
        ) { _ in }
        let listener = try Listener(service, store: store, memory: home.memory)
        for _ in 0..<8 {
            for number in 0..<40 { listener.client.queue(Given.activity("\(number)", filler: 2000)) }
            #expect(await listener.reportQueue().isSuccess)
        }
        let folders = QueueFolder.folders(in: home.path)
        #expect(folders.reduce(0) { $0 + $1.bytes } < 400_000)
        store.close()
    }

    @Test("Queueing while a report runs loses nothing and sends nothing twice")
    func concurrent() async throws {
        let service = try SeerService()
        let listener = try Listener(service) { $0.setMaxBatchBytes(1024) }
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    for number in 0..<50 { listener.client.queue(Given.activity("\(task)-\(number)")) }
                    _ = await listener.reportQueue()
                }
            }
        }
        #expect(await listener.reportQueue().isSuccess)
        #expect(service.arrived.count == 200 && Set(service.arrived).count == 200)
    }
}

/// A store on a disk that is full for the next few writes, or whose samples cannot be read for a while.
final class SmallDisk: ForwardingStore {
    let failures = Lock(0)
    let isUnreadable = Lock(false)
    let store = InMemoryStore()

    func append(_ samples: [Sample]) throws(QueueError) -> Int {
        let isFull = failures.withLock { failures in
            failures -= 1
            return failures >= 0
        }
        if isFull { throw QueueError(.diskFull, "the disk is full") }
        return try store.append(samples)
    }
    func next(for backend: BackendName, maxCount: Int, maxBytes: Int) -> [SampleRecord] {
        if isUnreadable.withLock({ $0 }) { return [] }
        return store.next(for: backend, maxCount: maxCount, maxBytes: maxBytes)
    }
}
