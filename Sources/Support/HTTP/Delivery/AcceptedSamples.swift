package import Instrument

/// The samples of unfinished batches that a service has already accepted, for backends that send a batch in several
/// requests.
///
/// When one request of a batch fails, the queue delivers the whole batch again, whole or in halves. The backend then
/// leaves out what was accepted, so that the service receives no copies.
package final class AcceptedSamples: Sendable {
    /// More than any batch has: what is left of batches that were dropped or erased meanwhile does not grow.
    private static let maxCount = 20_000

    private let ids = Lock(Set<SampleID>())

    package init() {}

    /// The samples of a batch that the service has not accepted yet.
    package func remaining(of batch: Batch) -> [SampleRecord] {
        ids.withLock { ids in ids.isEmpty ? batch.records : batch.records.filter { !ids.contains($0.id) } }
    }

    /// Records samples that a request of a batch delivered.
    package func insert(_ accepted: some Sequence<SampleID>) {
        ids.withLock { ids in
            if ids.count > Self.maxCount { ids = [] }
            ids.formUnion(accepted)
        }
    }

    /// Forgets the samples of a batch that is settled.
    package func settle(_ batch: Batch) {
        ids.withLock { ids in
            if !ids.isEmpty { ids.subtract(batch.records.lazy.map(\.id)) }
        }
    }
}
