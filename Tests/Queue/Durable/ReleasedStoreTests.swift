import Dispatch
import Foundation
import Instrument
import InstrumentTestKit
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentDurableQueue

@Suite("Released durable store", .ownThread)
struct ReleasedStoreTests {
    /// A part of a store, and its name.
    private struct Part {
        let name: String
        weak var object: AnyObject?
    }

    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func parts(of own: DirectoryStore) -> [Part] {
        [
            Part(name: "store", object: own), Part(name: "folder", object: own.folder),
            Part(name: "saver", object: own.saver), Part(name: "drainer", object: own.drainer),
            Part(name: "chore worker", object: own.choreWorker),
            Part(name: "synchronizer", object: own.synchronizer), Part(name: "appender", object: own.appender),
            Part(name: "eraser", object: own.eraser), Part(name: "places", object: own.places),
            Part(name: "restorer", object: own.restorer), Part(name: "queue", object: own.maintenanceQueue),
            Part(name: "maintenance", object: own.maintenance),
        ]
    }

    @Test("A released store is freed with all its parts, also while a drain waits for its retry")
    func freed() throws {
        let clock = VirtualClock()
        let (parts, queues) = try useStore(clock)
        // What was scheduled before the release.
        for queue in queues { queue.sync {} }
        #expect(parts.filter { $0.object != nil }.map(\.name) == [])
        clock.advance(by: .seconds(2))
        for queue in queues { queue.sync {} }
    }

    @Test("A store may be closed or released while its deleted folder is restored")
    func closedWhileRestoring() throws {
        let restoring = DispatchQueue(label: "restoring")
        for round in 0..<60 {
            let store = try DurableStore(directory: scratch.path + "/\(round)")
            let own = store.own
            store.attach("one")
            _ = try store.append([NumberedSamples.sample(round)])
            // At once, also while the store creates files.
            try FileManager.default.moveItem(atPath: own.path, toPath: scratch.path + "/gone-\(round)")
            restoring.async { for _ in 0..<3 { own.restorer.restoreWhatIsGone() } }
            if round.isMultiple(of: 2) { store.close() } else { own.letGo() }
            restoring.sync {}
            #expect(own.folder.bookkeeping.isClosed)
        }
    }

    @Test("A closed bookkeeping cannot be restored, and no file is changed")
    func closedBookkeeping() throws {
        let bookkeeping = try Bookkeeping(path: scratch.path + "/one.sqlite")
        bookkeeping.close()
        let path = scratch.path + "/two.sqlite"
        #expect(throws: (any Error).self) { try bookkeeping.restore(at: path) { _ in } }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    /// Uses a store until a drain fails and waits for its retry. Returns the store's parts and dispatch queues.
    private func useStore(_ clock: VirtualClock) throws -> ([Part], [DispatchQueue]) {
        let configuration = DurableConfiguration(segmentSize: 4096, synchronization: .count(100))
        let store = try DurableStore(directory: scratch.path, configuration: configuration)
        let own = store.own
        own.folder.state.withLock { $0.retryClock = clock }
        store.attach("one")
        for number in 0..<500 { _ = try store.append([NumberedSamples.sample(number)]) }
        try own.drainer.drain()
        // The folder is gone, and is not restored before the drain has failed.
        try own.eraser.erasing.withLock { _ in
            try FileManager.default.removeItem(atPath: own.path)
            for number in 500..<100_000 where !own.folder.state.withLock({ $0.isDrainRetryQueued }) {
                _ = try? store.append([NumberedSamples.sample(number)])
            }
        }
        try #require(own.folder.state.withLock { $0.isDrainRetryQueued })
        let parts = parts(of: own)
        #expect(parts.allSatisfy { $0.object != nil })
        return (parts, [own.drainer.queue, own.maintenanceQueue.queue])
    }
}
