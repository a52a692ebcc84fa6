package import Instrument

/// A store that passes every call on to another one. A test's store implements the calls that it disturbs.
package protocol ForwardingStore: SampleStore {
    /// The store that keeps the samples.
    var store: InMemoryStore { get }
}

extension ForwardingStore {
    package func append(_ samples: [Sample]) throws(QueueError) -> Int { try store.append(samples) }
    package func attach(_ backend: BackendName) { store.attach(backend) }
    package func forget(_ backend: BackendName) { store.forget(backend) }
    package func next(for backend: BackendName, maxCount: Int, maxBytes: Int) -> [SampleRecord] {
        store.next(for: backend, maxCount: maxCount, maxBytes: maxBytes)
    }
    package func readQueued(for backend: BackendName, _ body: ([SampleRecord]) -> Bool) {
        store.readQueued(for: backend, body)
    }
    package func settle(_ backend: BackendName, through sequence: UInt64, dead: [UInt64: String]) {
        store.settle(backend, through: sequence, dead: dead)
    }
    package func ledger(of backend: BackendName) -> Ledger { store.ledger(of: backend) }
    package func backlog(of backend: BackendName) -> Backlog { store.backlog(of: backend) }
    package func deadLetters(of backend: BackendName) -> [DeadLetter] { store.deadLetters(of: backend) }
    package func erase(where isErased: (SampleRecord) -> Bool) throws(QueueError) -> Int {
        store.erase(where: isErased)
    }
    package var consent: Consent { store.consent }
    package func hold() throws(QueueError) { store.hold() }
    package func release() throws(QueueError) { store.release() }
    package func eraseHeld() throws(QueueError) -> Int { store.eraseHeld() }
}
