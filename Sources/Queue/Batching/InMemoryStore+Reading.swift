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
        var isWanted = true
        found.part.forEach { distance, entry in
            guard let sample = entry.sample else { return true }
            page.append(record(sample, found.cursor + UInt64(distance)))
            if page.count < Self.pageSize { return true }
            isWanted = body(page)
            page = []
            return isWanted
        }
        if isWanted, !page.isEmpty { _ = body(page) }
    }
}
