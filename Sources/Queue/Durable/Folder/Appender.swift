internal import Dispatch
internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The path of `emit`: an append stages samples in memory that outlives the process, and does not wait for the disk.
final class Appender: Sendable {
    private let folder: StoreFolder
    /// The folder's, here as well: an access through the folder would retain and release the lock for each append.
    private let state: OrderedLock<FolderState>
    private let drainer: Drainer
    private let maintenanceQueue: MaintenanceQueue

    init(_ folder: StoreFolder, _ drainer: Drainer, _ maintenanceQueue: MaintenanceQueue) {
        self.folder = folder
        state = folder.state
        self.drainer = drainer
        self.maintenanceQueue = maintenanceQueue
    }

    /// The longest wait of an append for a disk that does not respond, and for a thread without a processor. The first
    /// one holds where staged samples outlive the process.
    static var patience: (disk: Duration, processor: Duration) { (.milliseconds(8), .seconds(1)) }

    /// Creates the staging area. The store can append only after this call.
    func prepareToAppend(in stagingDirectory: String?, _ randomness: RandomSource) throws(QueueError) {
        // Enough room for a slow disk, even if segments are small. A multiple of eight, as every record's offset.
        let size = min(1 << 20, max(256 << 10, folder.configuration.segmentSize)) & ~7
        var area: StagingArea?
        if let directory = stagingDirectory {
            area = (try? StagedFolder(folder.path)).flatMap {
                StagingArea.make(in: directory, halfSize: size, log: folder.logNumber, folder: $0, randomness)
            }
            if area == nil {
                folder.report(
                    .store("cannot create a file of \(2 * size) bytes in \(directory): emit may wait for the disk")
                )
            }
        }
        let made = if let area { area } else { try StagingArea.inProcess(halfSize: size) }
        made.note(refused: state.withLock { $0.refusedCount })
        do throws(QueueError) { try StagingMark.write(made, in: folder.path) } catch {
            made.delete()
            throw error
        }
        state.withLock { $0.staging = Staging(made) }
    }

    func append(_ samples: [Sample]) throws(QueueError) -> Int {
        switch stage(samples) {
        case .staged(let staged):
            // What waits for nothing cannot be refused.
            if !staged.isWaitDue { return try keep(staged) }
            return try countingRefusals(of: samples.count) { () throws(QueueError) in try keep(staged) }
        case .notWanted: return 0
        case .refused(let error):
            return try countingRefusals(of: samples.count) { () throws(QueueError) in throw error }
        case .full(let isHopeless):
            return try countingRefusals(of: samples.count) { () throws(QueueError) in
                if isHopeless { throw Self.stalled(folder.path) }
                return try appendPatiently(samples)
            }
        }
    }

    /// The outcome of staging samples.
    private enum Outcome {
        case staged(Staged)
        /// The store has no backend.
        case notWanted
        case refused(QueueError)
        /// The staging area is full; hopeless if the disk has not responded in time.
        case full(isHopeless: Bool)
    }

    /// Samples that were staged, and the work that they require.
    private struct Staged {
        var size: Int
        /// Their sequence numbers.
        var numbers: Range<UInt64>
        /// Whether they outlive the process where they are.
        var isLasting: Bool
        /// Whether the append waits for their copy.
        var isWaitDue: Bool
        var isDrainDue: Bool
        var isMaintenanceDue: Bool
    }

    private func stage(_ samples: [Sample]) -> Outcome {
        state.withLock { state in
            if state.places.isEmpty { return .notWanted }
            // Without memory that outlives the process, nothing can be kept while the disk does not respond.
            if state.isStalled, state.staging?.area.outlivesProcess == false { return .full(isHopeless: true) }
            guard let limit = state.room(for: samples.count, within: folder.configuration.limits) else {
                return .refused(full)
            }
            do throws(Staging.Refusal) {
                let first = state.nextSequence
                guard let added = try state.staging?.add(samples, from: first, limit: limit) else {
                    return .refused(QueueError(.storeFailed, "the queue in \(folder.path) is closed; open a new store"))
                }
                state.nextSequence += UInt64(samples.count)
                // Large records wait for their copy, because a disk often has no room for them; without memory that
                // outlives the process, a sample is durable only in a segment.
                let isWaitDue = added.isLarge || !added.isLasting
                let isDrainDue = !isWaitDue && !state.isDrainScheduled
                if isDrainDue { state.isDrainScheduled = true }
                return .staged(
                    Staged(
                        size: added.size,
                        numbers: first..<state.nextSequence,
                        isLasting: added.isLasting,
                        isWaitDue: isWaitDue,
                        isDrainDue: isDrainDue,
                        isMaintenanceDue: state.needsMaintenance || isSynchronizationDue(&state, samples.count)
                    )
                )
            } catch {
                switch error {
                case .full: return .full(isHopeless: state.isStalled)
                case .overLimit: return .refused(full)
                case .failed(let error): return .refused(error)
                }
            }
        }
    }

    /// Waits, if that is due, until staged samples are in a segment, as long as the disk responds.
    ///
    /// If the disk does not respond, samples whose memory outlives the process are kept; others are withdrawn. An error
    /// of the disk withdraws both.
    private func keep(_ staged: Staged) throws(QueueError) -> Int {
        if staged.isMaintenanceDue { maintenanceQueue.schedule(folder.configuration.synchronization) }
        if staged.isDrainDue { drainer.scheduleDrain() }
        if !staged.isWaitDue { return staged.size }
        guard let error = awaitCopy(staged) else { return staged.size }
        if staged.isLasting, error.code == .notResponding { return staged.size }
        if withdraw(staged.numbers) { throw error }
        return staged.size
    }

    /// Lets the draining thread copy staged samples, and waits for it. Returns the error of the copy, or the stall.
    private func awaitCopy(_ staged: Staged) -> QueueError? {
        let failure = Lock<QueueError?>(nil)
        let isTried = DispatchSemaphore(value: 0)
        drainer.queue.async { [weak drainer] in
            do throws(QueueError) { try drainer?.drain() } catch { failure.withLock { $0 = error } }
            isTried.signal()
        }
        let clock = SystemClock()
        let start = clock.now
        let patience = staged.isLasting ? Self.patience.disk : Self.patience.processor
        while isTried.wait(timeout: .now() + .milliseconds(1)) == .timedOut {
            let waited = start.duration(to: clock.now)
            if waited > Self.patience.processor || waited > patience && drainer.diskWork.isWaitingForDisk {
                state.withLock { $0.isStalled = true }
                // The disk may have responded in the meantime: the next round says so.
                drainer.scheduleDrain()
                return Self.stalled(folder.path)
            }
        }
        return failure.withLock { $0 }
    }

    /// Leaves out samples that are staged and not in the log. Returns false if they are in the log.
    private func withdraw(_ numbers: Range<UInt64>) -> Bool {
        state.withLock { state in
            if state.log.nextSequence >= numbers.upperBound { return false }
            state.leaveOut(numbers)
            return true
        }
    }

    private var full: QueueError {
        QueueError(.full, "the queue in \(folder.path) is at its limit; deliver more often, or raise the limit")
    }

    /// Counts samples that the store could not keep in every ledger.
    private func countingRefusals(of count: Int, _ body: () throws(QueueError) -> Int) throws(QueueError) -> Int {
        do throws(QueueError) { return try body() } catch {
            let isNews = state.withLock { state in
                state.countRefused(count)
                defer { state.needsMaintenance = true }
                return error.code != .full && !state.needsMaintenance
            }
            // The folder may have been deleted.
            if isNews { maintenanceQueue.async { $0.maintain() } }
            throw error
        }
    }

    /// Waits for the draining thread, as long as it makes progress.
    private func appendPatiently(_ samples: [Sample]) throws(QueueError) -> Int {
        let (clock, failures) = (SystemClock(), state.withLock { $0.drainFailures })
        let start = clock.now
        drainer.scheduleDrain()
        while true {
            nap()
            switch stage(samples) {
            case .staged(let staged): return try keep(staged)
            case .full: break
            case .notWanted: return 0
            case .refused(let error): throw error
            }
            if let failure = state.withLock({ $0.drainFailures == failures ? nil : $0.drainFailure }) {
                throw failure
            }
            let waited = start.duration(to: clock.now)
            if waited > Self.patience.processor || waited > Self.patience.disk && drainer.diskWork.isWaitingForDisk {
                state.withLock { $0.isStalled = true }
                throw Self.stalled(folder.path)
            }
        }
    }

    private static func stalled(_ path: String) -> QueueError {
        QueueError(
            .notResponding,
            "the disk under \(path) does not respond; the queue refuses samples until the disk responds again"
        )
    }

    private func nap() {
        var time = timespec(tv_sec: 0, tv_nsec: 50_000)
        nanosleep(&time, nil)
    }

    /// Whether a synchronization is due for the appended samples. True once until the synchronization starts.
    private func isSynchronizationDue(_ state: inout FolderState, _ count: Int) -> Bool {
        state.unsynchronized += count
        guard !state.isSynchronizationDue else { return false }
        switch folder.configuration.synchronization {
        case .never: return false
        case .interval: state.isSynchronizationDue = true
        case .count(let limit): state.isSynchronizationDue = state.unsynchronized >= limit
        }
        return state.isSynchronizationDue
    }
}
