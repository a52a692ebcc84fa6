internal import Instrument

/// The interface for lanes: the next batch of a backend, and its outcome.
extension DirectoryStore {
    /// Creates a place for a backend. Once this method returns, the place survives a loss of power. Waits for the disk.
    ///
    /// An ephemeral place is not saved and ends with this process.
    func attach(_ backend: BackendName, atOldest: Bool, isEphemeral: Bool = false) {
        if state.withLock({ state in state.places.contains { $0.row.name == backend.description } }) { return }
        do throws(QueueError) {
            try drainer.drain()
            addPlace(backend, atOldest, isEphemeral)
            if !isEphemeral { try saver.saveLastingly() }
        } catch {
            addPlace(backend, atOldest, isEphemeral)
            report(.store("the cursor of \(backend) may not survive a loss of power: \(error)"))
        }
    }

    private func addPlace(_ backend: BackendName, _ atOldest: Bool, _ isEphemeral: Bool) {
        state.withLock { state in
            let atOldest = !isEphemeral && (atOldest || state.hasLostPlaces)
            state.addPlace(backend.description, atOldest: atOldest, isEphemeral: isEphemeral)
        }
    }

    /// Deletes a backend's place. Deletes all samples with the last place: samples without a place are a sign of
    /// damage.
    func forget(_ backend: BackendName) {
        erasing.withLock { _ in
            drainer.draining.withLock { _ in
                let isLast = state.withLock { $0.forget(backend) }
                if !isLast { return }
                do throws(QueueError) { try drainer.drainLocked() } catch { report(.store("\(error)")) }
                drainer.sealHead()
            }
            if saver.saveChanges() { saver.trim(areUnclaimed: true) }
        }
    }

    func next(for backend: BackendName, maxCount: Int, maxBytes: Int) -> [SampleRecord] {
        do throws(QueueError) {
            try drainer.drain()
            folder.noteSuccess(of: .draining)
        } catch {
            folder.noteFailure("\(error)", of: .draining)
        }
        while true {
            guard maxCount > 0, let found = reading(for: backend, maxCount: maxCount, maxBytes: maxBytes) else {
                return []
            }
            if !found.retries.isEmpty { return found.retries }
            // Decoded outside the lock, so that no emit waits: bytes before the end of a stretch never change.
            let read = found.read(maxCount: maxCount, maxBytes: maxBytes, log: logNumber)
            if read.isEmpty {
                skipDamaged(backend, found)
                return []
            }
            // Otherwise a drop or an erasure has made the samples that were read invalid.
            if lease(read, found, to: backend) { return read.map(\.record) }
        }
    }

    /// The samples that wait for a backend, without a lease.
    func queued(for backend: BackendName) -> some Sequence<[SampleRecord]> {
        do throws(QueueError) { try drainer.drain() } catch { report(.store("\(error)")) }
        return view.queued(for: backend)
    }

    /// Records the lease, so that the next call returns the same batch. Returns false if the batch is outdated.
    private func lease(_ read: [ReadRecord], _ reading: Reading, to backend: BackendName) -> Bool {
        guard let last = read.last?.record.sequence else { return false }
        let (isCurrent, isNews) = state.withLock { $0.lease(read, through: last, of: reading, to: backend) }
        // Saved before the delivery, so that the next run delivers the same batch.
        if isNews { saver.saveChanges() }
        return isCurrent
    }

    private func reading(
        for backend: BackendName,
        maxCount: Int,
        maxBytes: Int,
        isLeased: Bool = true
    ) -> Reading? {
        state.withLock {
            $0.reading(for: backend, maxCount: maxCount, maxBytes: maxBytes, isLeased: isLeased)
        }
    }

    /// Counts the remaining samples, none of which can be read, as lost, so that no flush waits for them.
    private func skipDamaged(_ backend: BackendName, _ reading: Reading) {
        if state.withLock({ $0.skipDamaged(reading, of: backend) }) { saver.saveChanges() }
    }

    func settle(_ backend: BackendName, through sequence: UInt64, dead: [UInt64: String]) {
        if !state.withLock({ $0.settleRetries(backend, through: sequence, dead) }) {
            let settled = state.withLock { $0.settleRead(backend, through: sequence, dead) }
            // Freed outside the lock: freeing takes time, and `emit` may be waiting.
            withExtendedLifetime(settled) {}
        }
        saver.saveChanges()
    }
}
