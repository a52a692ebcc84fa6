internal import Instrument

/// The places of backends: where each one begins, its next batch, the outcome of the batch, and its dead letters.
///
/// Lanes call ``next(for:maxCount:maxBytes:)`` and ``settle(_:through:dead:)``. The changes are those of
/// ``FolderState``; this type drains before them, and saves them.
final class BackendPlaces: Sendable {
    let folder: StoreFolder
    let view: FolderView
    let saver: ChangeSaver
    let eraser: Eraser
    private let drainer: Drainer

    init(_ folder: StoreFolder, _ saver: ChangeSaver, _ drainer: Drainer, _ eraser: Eraser) {
        self.folder = folder
        view = FolderView(folder)
        self.saver = saver
        self.drainer = drainer
        self.eraser = eraser
    }

    /// Creates a place for a backend. Once this method returns, the place survives a loss of power. Waits for the disk.
    ///
    /// An ephemeral place is not saved and ends with this process.
    func attach(_ backend: BackendName, atOldest: Bool, isEphemeral: Bool = false) {
        if folder.state.withLock({ state in state.places.contains { $0.row.name == backend.description } }) { return }
        do throws(QueueError) {
            try drainer.drain()
            addPlace(backend, atOldest, isEphemeral)
            if !isEphemeral { try saver.saveLastingly() }
        } catch {
            addPlace(backend, atOldest, isEphemeral)
            folder.report(.store("the cursor of \(backend) may not survive a loss of power: \(error)"))
        }
    }

    private func addPlace(_ backend: BackendName, _ atOldest: Bool, _ isEphemeral: Bool) {
        folder.state.withLock { state in
            let atOldest = !isEphemeral && (atOldest || state.hasLostPlaces)
            state.addPlace(backend.description, atOldest: atOldest, isEphemeral: isEphemeral)
        }
    }

    /// Deletes a backend's place. Deletes all samples with the last place: samples without a place are a sign of
    /// damage.
    func forget(_ backend: BackendName) {
        eraser.erasing.withLock { _ in
            drainer.draining.withLock { _ in
                let isLast = folder.state.withLock { $0.forget(backend) }
                if !isLast { return }
                do throws(QueueError) { try drainer.drainLocked() } catch { folder.report(.store("\(error)")) }
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
            guard maxCount > 0 else { return [] }
            let reading = folder.state.withLock {
                $0.reading(for: backend, maxCount: maxCount, maxBytes: maxBytes, isLeased: true)
            }
            guard let found = reading else { return [] }
            if !found.retries.isEmpty { return found.retries }
            // Decoded outside the lock, so that no emit waits: bytes before the end of a stretch never change.
            let read = found.read(maxCount: maxCount, maxBytes: maxBytes, log: folder.logNumber)
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
        do throws(QueueError) { try drainer.drain() } catch { folder.report(.store("\(error)")) }
        return view.queued(for: backend)
    }

    /// Records the lease, so that the next call returns the same batch. Returns false if the batch is outdated.
    private func lease(_ read: [ReadRecord], _ reading: Reading, to backend: BackendName) -> Bool {
        guard let last = read.last?.record.sequence else { return false }
        let (isCurrent, isNews) = folder.state.withLock { $0.lease(read, through: last, of: reading, to: backend) }
        // Saved before the delivery, so that the next run delivers the same batch.
        if isNews { saver.saveChanges() }
        return isCurrent
    }

    /// Counts the remaining samples, none of which can be read, as lost, so that no flush waits for them.
    private func skipDamaged(_ backend: BackendName, _ reading: Reading) {
        if folder.state.withLock({ $0.skipDamaged(reading, of: backend) }) { saver.saveChanges() }
    }

    func settle(_ backend: BackendName, through sequence: UInt64, dead: [UInt64: String]) {
        if !folder.state.withLock({ $0.settleRetries(backend, through: sequence, dead) }) {
            let settled = folder.state.withLock { $0.settleRead(backend, through: sequence, dead) }
            // Freed outside the lock: freeing takes time, and `emit` may be waiting.
            withExtendedLifetime(settled) {}
        }
        saver.saveChanges()
    }
}
