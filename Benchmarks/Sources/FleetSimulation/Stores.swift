import Foundation
import Instrument
import InstrumentBackends
import InstrumentDurableQueue
import Synchronization

/// A durable store that notes each call that has returned.
struct NotingStore: SampleStore {
    let store: DurableStore
    let notes: Notes
    let run: Int
    let isOffline: Bool

    func append(_ samples: [Sample]) throws(QueueError) -> Int {
        let bytes = try store.append(samples)
        notes[run, .appends] += 1
        if !isOffline { notes[run, .samples] += samples.count }
        return bytes
    }

    func attach(_ backend: BackendName) { store.attach(backend) }
    func attach(_ backend: BackendName, isEphemeral: Bool) { store.attach(backend, isEphemeral: isEphemeral) }
    func forget(_ backend: BackendName) { store.forget(backend) }
    func next(for backend: BackendName, maxCount: Int, maxBytes: Int) -> [SampleRecord] {
        store.next(for: backend, maxCount: maxCount, maxBytes: maxBytes)
    }
    func readQueued(for backend: BackendName, _ body: ([SampleRecord]) -> Bool) {
        store.readQueued(for: backend, body)
    }
    func settle(_ backend: BackendName, through sequence: UInt64, dead: [UInt64: String]) {
        store.settle(backend, through: sequence, dead: dead)
    }
    func ledger(of backend: BackendName) -> Ledger { store.ledger(of: backend) }
    func backlog(of backend: BackendName) -> Backlog { store.backlog(of: backend) }
    func deadLetters(of backend: BackendName) -> [DeadLetter] { store.deadLetters(of: backend) }
    func erase(where isErased: (SampleRecord) -> Bool) throws(QueueError) -> Int { try store.erase(where: isErased) }
    var consent: Consent { store.consent }
    func hold() throws(QueueError) { try store.hold() }
    func release() throws(QueueError) { try store.release() }
    func eraseHeld() throws(QueueError) -> Int { try store.eraseHeld() }
}

/// Writes the samples that a run must have stored, and apart from them those of the call that a kill may have
/// interrupted.
final class ReferenceStore: SampleStore {
    private struct State {
        var appends = 0
        var limit = 0
        var sequence: UInt64 = 0
        var pending: [SampleRecord] = []
    }

    private let state = Mutex(State())
    private let (certain, unsure): (FileHandle, FileHandle)

    init(certain: FileHandle, unsure: FileHandle) { (self.certain, self.unsure) = (certain, unsure) }

    /// Begins a run.
    ///
    /// - Parameter limit: the number of calls that have returned.
    func begin(limit: Int) { state.withLock { ($0.appends, $0.limit) = (0, limit) } }

    func append(_ samples: [Sample]) throws(QueueError) -> Int {
        state.withLock { state in
            state.appends += 1
            guard state.appends <= state.limit + (state.limit == .max ? 0 : 1) else { return }
            let records = samples.map { sample in
                state.sequence += 1
                return SampleRecord(
                    id: SampleID(log: 1, sequence: state.sequence),
                    sequence: state.sequence,
                    sample: sample
                )
            }
            if state.appends > state.limit { return unsure.write(Data(JSONLines.encode(records))) }
            state.pending += records
            if state.pending.count >= 4_000 { flush(&state) }
        }
        return samples.count
    }

    func flush() { state.withLock { flush(&$0) } }

    private func flush(_ state: inout State) {
        certain.write(Data(JSONLines.encode(state.pending)))
        state.pending.removeAll(keepingCapacity: true)
    }

    // Nothing waits here for a backend.
    func attach(_ backend: BackendName) {}
    func forget(_ backend: BackendName) {}
    func next(for backend: BackendName, maxCount: Int, maxBytes: Int) -> [SampleRecord] { [] }
    func readQueued(for backend: BackendName, _ body: ([SampleRecord]) -> Bool) {}
    func settle(_ backend: BackendName, through sequence: UInt64, dead: [UInt64: String]) {}
    func ledger(of backend: BackendName) -> Ledger { Ledger() }
    func backlog(of backend: BackendName) -> Backlog { Backlog() }
    func deadLetters(of backend: BackendName) -> [DeadLetter] { [] }
    func erase(where isErased: (SampleRecord) -> Bool) throws(QueueError) -> Int { 0 }
    var consent: Consent { .granted }
    func hold() throws(QueueError) {}
    func release() throws(QueueError) {}
    func eraseHeld() throws(QueueError) -> Int { 0 }
}

/// The place of a backend that never sends.
struct NoBackend: Backend {
    let name: BackendName = "none"
    let policy = DeliveryPolicy(maxCount: .max, maxAge: .seconds(1 << 30), needsNetwork: true)
    func deliver(_ batch: Batch) async -> DeliveryOutcome { .acknowledged }
}
