import Foundation
import Instrument
import InstrumentTestKit
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentDurableQueue

/// A change of a queue that is no delivery.
enum QueueChange: CaseIterable, Sendable {
    case erase, retry, drop, forget, deny, replace, close, adopt

    static let pairs: [[QueueChange]] = allCases.indices.flatMap { first in
        allCases.indices[first...].map { [allCases[first], allCases[$0]] }
    }
}

/// Two changes beside a delivery, in orders that a seed chooses.
@Suite("Changes of a queue at the same time", .ownThread)
struct InterleavedChangesTests {
    let scratch: Scratch
    let template: String

    init() throws {
        scratch = try Scratch()
        template = scratch.path + "/template"
        try QueueTemplate.make(template, scratch)
    }

    private func open(_ path: String) throws -> DurableStore { try QueueTemplate.open(path, scratch) }

    @Test("Letters are retried once, erased persons stay erased, and the ledger adds up", arguments: QueueChange.pairs)
    func pairs(_ changes: [QueueChange]) throws {
        for seed in Rounds.seeds(40) {
            let path = scratch.path + "/\(seed)"
            try FileManager.default.copyItem(atPath: template, toPath: path)
            let run = ChangeRun(try open(path))
            #expect(QueueFolder.folders(in: path).count == 2)
            Interleaving.run(
                seed: seed,
                changes.map { change in { run.perform(change) { try? open(path) } } } + [{ run.deliver(8) }]
            )
            run.check("\(changes), seed \(seed)")
            if !run.isClosed { run.store.close() }
            try checkReopened(path, run, "\(changes), seed \(seed)")
            try FileManager.default.removeItem(atPath: path)
        }
    }

    /// What the run left is consistent on disk, too.
    private func checkReopened(_ path: String, _ run: ChangeRun, _ comment: Comment) throws {
        let store = try open(path)
        for name in store.backends { store.attach(name) }
        let again = ChangeRun(store)
        again.isErased = run.isErased
        again.acknowledged = run.isClosed ? [] : run.acknowledged
        for name in store.backends { again.checkLedger(name, comment) }
        let queued = store.ledger(of: "one").queued
        let rest = NumberedSamples.drain(store)
        #expect(rest.count == queued, comment)
        again.note(rest)
        #expect(again.violations.isEmpty, "\(comment): \(again.violations)")
        for name in store.backends { again.checkLedger(name, comment) }
        if run.isErased {
            let letters = store.backends.flatMap(store.deadLetters).map(\.record)
            #expect(!(letters + NumberedSamples.drain(store, "two")).contains(where: ChangeRun.isAnn), comment)
        }
        store.close()
    }

    @Test("A letter that is retried while another retry is in flight is delivered, and not only acknowledged")
    func retryInFlight() throws {
        let store = try open(scratch.path + "/retry")
        store.attach("one")
        for number in 0..<6 { _ = try store.append([NumberedSamples.sample(number)]) }
        let records = store.next(for: "one", maxCount: 4, maxBytes: .max)
        store.settle("one", through: 3, dead: [1: "no", 2: "no", 3: "no"])
        #expect(store.retryDeadLetters([records[2].id, records[3].id], of: "one") == 2)
        #expect(store.next(for: "one", maxCount: 4, maxBytes: .max) == [records[2], records[3]])
        #expect(store.retryDeadLetters([records[1].id], of: "one") == 1)
        // The same batch, or its beginning, until it is settled.
        #expect(store.next(for: "one", maxCount: 4, maxBytes: .max) == [records[2], records[3]])
        #expect(store.next(for: "one", maxCount: 1, maxBytes: .max) == [records[2]])
        store.settle("one", through: 2, dead: [:])
        #expect(store.ledger(of: "one").acknowledged == 2)
        #expect(store.next(for: "one", maxCount: 4, maxBytes: .max) == [records[3]])
        store.settle("one", through: 3, dead: [:])
        #expect(store.next(for: "one", maxCount: 4, maxBytes: .max) == [records[1]])
        #expect(NumberedSamples.numbers(NumberedSamples.drain(store)) == [1, 4, 5])
        let ledger = store.ledger(of: "one")
        #expect((ledger.emitted, ledger.acknowledged, ledger.queued, ledger.dead) == (6, 6, 0, 0))
        store.close()
    }

    @Test("A batch that is in flight stays the same when letters are retried, and retries respect a limit in bytes")
    func retryBesideBatch() throws {
        let store = try open(scratch.path + "/beside")
        store.attach("one")
        for number in 0..<9 { _ = try store.append([NumberedSamples.sample(number)]) }
        let records = store.next(for: "one", maxCount: 3, maxBytes: .max)
        store.settle("one", through: 2, dead: [0: "no", 1: "no", 2: "no"])
        let batch = store.next(for: "one", maxCount: 4, maxBytes: .max)
        #expect(store.retryDeadLetters(Set(records.map(\.id)), of: "one") == 3)
        #expect(store.next(for: "one", maxCount: 9, maxBytes: .max) == batch)
        store.settle("one", through: 6, dead: [:])
        #expect(store.next(for: "one", maxCount: 4, maxBytes: 1) == [records[0]])
        store.settle("one", through: 0, dead: [:])
        #expect(NumberedSamples.numbers(NumberedSamples.drain(store)) == [1, 2, 7, 8])
        store.close()
    }

    @Test("A batch of a folder that was deleted meanwhile settles no samples of another folder")
    func settledTooLate() throws {
        let path = scratch.path + "/late"
        try FileManager.default.copyItem(atPath: template, toPath: path)
        let store = try open(path)
        // The own folder's batch failed, then letters of the older folder are retried.
        for folder in 0..<2 {
            let waiting = store.next(for: "one", maxCount: 5, maxBytes: .max)
            #expect(waiting.count == 5)
            if folder == 0 { store.settle("one", through: 9, dead: [:]) }
        }
        let letters = store.deadLetters(of: "one").map(\.record)
        let old = Set(letters.prefix(4).map(\.id))
        _ = NumberedSamples.drain(store, "two")
        #expect(store.retryDeadLetters(old, of: "one") == 4)
        let inFlight = store.next(for: "one", maxCount: 10, maxBytes: .max)
        #expect(Set(inFlight.map(\.id)) == old)
        #expect(try store.erase { old.contains($0.id) } == 4)
        let before = store.ledger(of: "one")
        store.settle("one", through: 9, dead: [:])
        #expect(store.ledger(of: "one") == before && before.queued == 5)
        store.close()
    }
}

/// A run of changes and a delivery, and what they have seen.
final class ChangeRun: @unchecked Sendable {
    // Sendable: `Interleaving` runs one thread at a time.
    let store: DurableStore
    /// What each change chooses from.
    private let letters: Set<SampleID>
    private var epoch = 0
    private var isStopped = false
    private var isReplacing = false
    private(set) var isClosed = false
    var isErased = false
    var acknowledged: Set<SampleID> = []
    private var counted = 0
    private var before: Ledger
    private(set) var violations: [String] = []

    init(_ store: DurableStore) {
        self.store = store
        letters = Set(store.deadLetters(of: "one").map(\.record.id))
        before = store.ledger(of: "one")
    }

    static func isAnn(_ record: SampleRecord) -> Bool { DurableErasingTests.isOf("p-ann")(record) }

    func perform(_ change: QueueChange, _ open: () -> DurableStore?) {
        switch change {
        case .erase:
            let isDone = (try? store.erase(where: Self.isAnn)) != nil
            epoch += 1
            if isDone { isErased = true }
        case .retry: store.retryDeadLetters(letters, of: "one")
        case .drop: store.dropDeadLetters(letters, of: "one")
        case .forget:
            store.forget("one")
        case .deny:
            isStopped = true
            epoch += 1
            if (try? store.hold()) != nil, (try? store.eraseHeld()) != nil { try? store.release() }
            isStopped = false
        case .replace:
            // A backend begins after the end of the one that it replaces.
            if isReplacing { return }
            isReplacing = true
            defer { isReplacing = false }
            // The lease of a backend that was cancelled, and of the one that follows.
            let first = store.next(for: "two", maxCount: 3, maxBytes: .max)
            let again = Set(store.next(for: "two", maxCount: 3, maxBytes: .max).map(\.id))
            if !again.isSubset(of: first.map(\.id)) { violations.append("another batch before the first is settled") }
            if let last = first.last { store.settle("two", through: last.sequence, dead: [:]) }
        case .close:
            (isStopped, isClosed) = (true, true)
            store.close()
        case .adopt:
            guard let other = open() else { return }
            other.attach("one")
            _ = NumberedSamples.drain(other, "two")
            other.close()
        }
    }

    /// Delivers like a lane: a batch that was read before an erasure or a denial is not sent.
    func deliver(_ rounds: Int) {
        for _ in 0..<rounds {
            let start = epoch
            let records = store.next(for: "one", maxCount: 3, maxBytes: .max)
            guard let last = records.last else { return }
            if epoch != start || isStopped { continue }
            note(records)
            store.settle("one", through: last.sequence, dead: [:])
        }
    }

    /// Notes samples that a backend accepts.
    func note(_ records: [SampleRecord]) {
        for record in records {
            if isErased, Self.isAnn(record) { violations.append("\(record.id) is delivered after its erasure") }
            if !acknowledged.insert(record.id).inserted { violations.append("\(record.id) is delivered twice") }
            counted += 1
        }
    }

    func check(_ comment: Comment) {
        #expect(violations.isEmpty, "\(comment): \(violations)")
        if isClosed { return }
        for name in store.backends { checkLedger(name, comment) }
        let ledger = store.ledger(of: "one")
        #expect(ledger.acknowledged - before.acknowledged <= counted, "\(comment): acknowledged without a delivery")
    }

    func checkLedger(_ name: BackendName, _ comment: Comment) {
        let ledger = store.ledger(of: name)
        #expect(ledger.emitted == ledger.settled + ledger.queued, "\(comment): \(ledger)")
        #expect(ledger.dead == store.deadLetters(of: name).count, "\(comment): \(ledger)")
        #expect(ledger.drops[.corrupt] == nil, "\(comment): \(ledger)")
    }
}
