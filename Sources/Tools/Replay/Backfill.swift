package import Instrument

/// Delivers recorded samples to backends under their recorded identifiers, so that no sample counts twice, however
/// often the recording is delivered.
///
/// Samples are delivered in chunks: the next chunk is read after every backend has received the chunk before. A backend
/// that has not received a chunk in time, or accepts no more samples, receives nothing more.
package final class Backfill {
    /// The samples of a chunk.
    package static let chunkSize = 10_000

    private let store = ReplayStore()
    private let queue: BatchQueue
    private let timeout: Duration
    private var open: [BackendName]
    private var chunk: [SampleRecord] = []

    /// Creates a backfill.
    ///
    /// - Parameters:
    ///   - backends: the backends; their names must differ.
    ///   - timeout: the longest time for the delivery of a chunk, retries included.
    ///   - clock: times deliveries.
    ///   - report: receives a diagnostic for each refused sample and each retry, on any thread.
    package init(
        to backends: [any Backend],
        timeout: Duration,
        clock: any SchedulingClock = SystemClock(),
        report: @escaping @Sendable (Diagnostic) -> Void = { _ in }
    ) {
        self.timeout = timeout
        open = backends.map(\.name)
        let store = store
        queue = BatchQueue(
            store: store,
            backends: backends.map { ReplayBackend(backend: $0, store: store) },
            clock: clock,
            report: report
        )
        for backend in backends { backend.ready() }
    }

    /// The samples that the backends received and did not receive.
    package var samples: any SampleStore { store }

    /// Whether a backend still receives samples.
    package var isOpen: Bool { !open.isEmpty }

    /// Adds a sample, and delivers when a chunk is full.
    package func add(_ record: SampleRecord) async {
        chunk.append(record)
        if chunk.count >= Self.chunkSize { await deliver() }
    }

    /// Delivers the remaining samples and ends the backends' service.
    package func finish() async {
        await deliver()
        await queue.shutdown(timeout: timeout)
    }

    private func deliver() async {
        store.add(chunk)
        chunk.removeAll(keepingCapacity: true)
        if await queue.flush(timeout: timeout) { return }
        for backend in open where store.ledger(of: backend).queued > 0 {
            await queue.remove(backend, timeout: .zero)
            open.removeAll { $0 == backend }
        }
    }
}
