internal import Instrument

/// Does the work on files that an append leaves to a thread that may wait for the disk.
final class ChoreWorker: Sendable {
    /// Held while chores are done.
    let chores = OrderedLock(.chores, ())
    private let folder: StoreFolder

    init(_ folder: StoreFolder) { self.folder = folder }

    /// Renames, truncates and creates files, so that an append does not wait for the disk.
    func doChores() { chores.withLock { _ in doChoresLocked() } }

    /// The caller holds `chores`.
    func doChoresLocked() {
        let chores = folder.state.withLock { state -> [SegmentChores.Chore]? in
            if state.isLetGo { return nil }
            state.areChoresDue = false
            return state.log.takeChores()
        }
        guard let chores else { return }
        for chore in chores { perform(chore) }
        if !chores.isEmpty { noteAges() }
        // Last, because no spare is created while a segment has the spare's name.
        if let missing = folder.state.withLock({ $0.log.missingSpare }) { makeSpare(of: missing) }
    }

    /// Saves the ages of segments, for the next run in this boot.
    private func noteAges() {
        guard folder.configuration.limits.maxAge != nil, let boot = BootSession.identifier else { return }
        let newest = folder.state.withLock { state in
            state.log.sealedStretches.compactMap { stretch in
                stretch.newest.map { (stretch.segment.first, $0) }
            }
        }
        do { try folder.bookkeeping.save(newest: newest, boot: boot) } catch {
            folder.report(
                .store(
                    "cannot save the age of segments in \(folder.path): \(error); the segments are kept longer than configured"
                )
            )
        }
    }

    private func perform(_ chore: SegmentChores.Chore) {
        switch chore {
        case .cut(let segment, let end): segment.cut(to: end)
        case .name(let segment, let isRetry):
            do throws(QueueError) {
                try segment.move(to: folder.state.withLock { $0.log.path(of: segment.first) })
            } catch {
                // A deleted segment was passed by every backend.
                if Directory.size(of: segment.path) != nil {
                    if !isRetry { folder.report(.store("\(error); the store retries it")) }
                    return folder.state.withLock { $0.log.retryNaming(segment) }
                }
            }
            folder.state.withLock { $0.log.spareNameIsFree() }
        }
    }

    /// If the disk has no room for a spare segment, the append that needs the next segment receives the error.
    private func makeSpare(of size: Int) {
        guard let spare = try? Segment(creating: folder.state.withLock { $0.log.sparePath }, capacity: size) else {
            return
        }
        spare.touch()
        folder.state.withLock { $0.log.keep(spare: spare) }
    }
}
