extension InMemoryStore {
    /// The largest page of ``readQueued(for:_:)``.
    private static var pageSize: Int { 1000 }

    /// Reads the samples that wait for a backend without a lease. Calls `body` outside the lock.
    public func readQueued(for backend: BackendName, _ body: ([SampleRecord]) -> Bool) {
        let found = state.withLock { state -> (cursor: UInt64, part: SampleLog.Part)? in
            guard let place = state.places.first(where: { $0.name == backend }) else { return nil }
            return (place.cursor, state.log.part(from: place.cursor, maxCount: .max))
        }
        guard let found else { return }
        var page: [SampleRecord] = []
        for (offset, sample) in found.part.enumerated() {
            guard let sample else { continue }
            page.append(record(sample, found.cursor + UInt64(offset)))
            if page.count < Self.pageSize { continue }
            guard body(page) else { return }
            page = []
        }
        if !page.isEmpty { _ = body(page) }
    }
}
