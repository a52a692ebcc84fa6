internal import Dispatch
internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Copies staged records into segments: the part of storing a sample that may wait for the disk.
///
/// The draining thread holds `draining`, and takes the state's lock only between two accesses to the disk, so that no
/// `append` ever waits for a disk that hangs.
final class Drainer: Sendable {
    /// Held while staged records are copied into the log, or the log's head is changed.
    let draining = OrderedLock(.draining, ())
    /// Whether this store has released the folder to other processes.
    let isReleased = OrderedLock(.isReleased, false)
    /// Drains staged samples. Separate from the maintenance's queue, which may wait longer for the disk.
    let queue = DispatchQueue(label: "instrument.durable-queue.drain")
    let diskWork = DiskWork()
    private let folder: StoreFolder
    private let maintenanceQueue: MaintenanceQueue

    init(_ folder: StoreFolder, _ maintenanceQueue: MaintenanceQueue) {
        self.folder = folder
        self.maintenanceQueue = maintenanceQueue
    }

    /// Copies all samples that were staged before the call into the log.
    /// - Throws: if a segment could not be created; the remaining samples stay staged.
    func drain() throws(QueueError) {
        if folder.state.withLock({ $0.staging?.isEmpty ?? true }) { return }
        try draining.withLock { (_: inout Void) throws(QueueError) in try drainLocked() }
    }

    /// Schedules a drain in the background, one for all samples that are staged until it starts.
    func scheduleDrain() {
        guard folder.state.withLock({ Self.isFirst(&$0.isDrainQueued) }) else { return }
        queue.async { [weak self] in
            self?.folder.state.withLock { $0.isDrainQueued = false }
            // The store is not retained between two rounds, so that its release is not delayed.
            while self?.drainRound() == true { usleep(Self.drainPause) }
        }
    }

    /// Sets a flag; returns whether it was not set.
    private static func isFirst(_ flag: inout Bool) -> Bool {
        defer { flag = true }
        return !flag
    }

    /// The pause between two rounds, in microseconds, so that a burst of samples needs few rounds.
    private static var drainPause: UInt32 { 500 }

    /// Drains once. Returns false if no sample is left, or the drain failed.
    private func drainRound() -> Bool {
        do throws(QueueError) { try drain() } catch {
            // Callers that append in the meantime receive the error. The store retries staged records: once a second,
            // however many appends have failed.
            let clock = folder.state.withLock { Self.isFirst(&$0.isDrainRetryQueued) ? $0.retryClock : nil }
            guard let clock else { return false }
            _ = clock.schedule(at: clock.now.advanced(by: .seconds(1))) { [weak self] in
                self?.folder.state.withLock { $0.isDrainRetryQueued = false }
                self?.scheduleDrain()
            }
            return false
        }
        let isDone = folder.state.withLock { state in
            // The disk responds.
            state.isStalled = false
            if state.staging?.isEmpty == false { return false }
            state.isDrainScheduled = false
            return true
        }
        return !isDone
    }

    /// The caller holds `draining`.
    func drainLocked() throws(QueueError) {
        if isReleased.withLock({ $0 }) { return }
        diskWork.begin()
        defer { diskWork.end() }
        do throws(QueueError) {
            // Includes samples that are staged while others are copied.
            while let half = folder.state.withLock({ state -> Staging.Taken? in
                state.staging?.take()
                return state.staging?.taken
            }) {
                try copy(half)
            }
        } catch {
            folder.state.withLock { state in
                state.drainFailures += 1
                state.drainFailure = error
                // An error is a response: the next append gets its cause, not the stall's.
                state.isStalled = false
            }
            // The folder may have been deleted.
            if folder.state.withLock({ Self.isFirst(&$0.isRestoringQueued) }) {
                maintenanceQueue.async { $0.restore() }
            }
            throw error
        }
        let areChoresDue = folder.state.withLock { state in
            state.drainFailure = nil
            if state.areChoresDue || !state.log.needsChores { return false }
            state.areChoresDue = true
            return true
        }
        if areChoresDue { maintenanceQueue.async { $0.choreWorker.doChores() } }
    }

    private func copy(_ half: Staging.Taken) throws(QueueError) {
        defer { withExtendedLifetime(half.area) {} }
        // Once for all units, because the check costs a system call.
        folder.leaveCutSegment()
        var (start, units) = (half.start, half.units)
        // Ages belong to segments: with an age limit, each append is copied separately.
        let step = folder.configuration.limits.maxAge == nil ? units.count : 1
        while let first = units.first {
            if let large = first.large {
                try copy(large, first)
                units.removeFirst()
                continue
            }
            let run = units.prefix(step).prefix { $0.large == nil }
            let count = try copy(run, of: UnsafeRawPointer(half.base), from: start, areStaged: true)
            start = units[units.startIndex + count - 1].end
            units.removeFirst(count)
        }
    }

    /// Copies records that have a separate area, and deletes the area.
    private func copy(_ large: Staging.Large, _ unit: Staging.Unit) throws(QueueError) {
        let isWithdrawn = folder.state.withLock { $0.absent.contains(unit.endSequence - 1) }
        if isWithdrawn {
            // A disk that has no room for these records must not delay the later ones.
            sealHead()
            folder.state.withLock { state in
                state.log.skip(to: unit.endSequence)
                state.staging?.copied(1)
                state.isStalled = false
            }
        } else {
            var unit = unit
            unit.end = large.size
            _ = try copy([unit], of: large.area.half(0), from: 0, areStaged: true)
        }
        large.area.delete()
    }

    /// Copies as many appends as fit into the head, but at least one. Returns their number.
    func copy(
        _ units: ArraySlice<Staging.Unit>,
        of base: UnsafeRawPointer,
        from start: Int,
        areStaged: Bool = false
    ) throws(QueueError) -> Int {
        guard let first = units.first else { return 0 }
        dropOld(first.instant)
        let head = try head(withRoomFor: first.end - start)
        let fitting = units.prefix { $0.end - start <= head.segment.capacity - head.end }
        guard let last = fitting.last else { return 0 }
        let size = last.end - start
        head.segment.copy(UnsafeRawBufferPointer(start: base + start, count: size), to: head.end)
        let isMaintenanceDue = folder.state.withLock { state in
            state.log.fill(to: head.end + size, endSequence: last.endSequence, newest: last.instant)
            // In the same step, so that no sample counts twice.
            if areStaged { state.staging?.copied(fitting.count) }
            // The disk responds.
            state.isStalled = false
            state.makeRoom(within: folder.configuration.limits)
            return state.needsMaintenance
        }
        if isMaintenanceDue { maintenanceQueue.async { $0.maintain() } }
        return fitting.count
    }

    /// Moves every backend past the segments whose samples are all older than `maxAge`, by the samples' instants. The
    /// caller holds `draining`.
    private func dropOld(_ now: MonotonicInstant) {
        guard let maxAge = folder.configuration.limits.maxAge else { return }
        let cutoff = now.advanced(by: .zero - maxAge)
        let isHeadOld = folder.state.withLock { state in
            state.log.prepareForAge(now: now)
            return state.log.headNewest.map { $0 < cutoff } ?? false
        }
        if isHeadOld { sealHead() }
        folder.state.withLock { $0.dropSealed(before: cutoff) }
    }

    /// The head of the log, or a new one if the log has no head or the head has too little room.
    private func head(withRoomFor size: Int) throws(QueueError) -> (segment: Segment, end: Int) {
        if let head = folder.state.withLock({ $0.log.head }), head.segment.capacity - head.end >= size { return head }
        sealHead()
        let (spare, next, path, segmentSize) = folder.state.withLock { state in
            let needed = size + SegmentHeader.size + RecordFormat.headerSize
            let spare = state.log.takeSpare(atLeast: needed)
            let next = state.log.nextSequence
            return (spare, next, state.log.path(of: next), max(state.log.nextSegmentSize, needed))
        }
        let segment = if let spare { spare } else { try Segment(creating: path, capacity: segmentSize) }
        segment.begin(SegmentHeader(log: folder.logNumber, first: next))
        folder.state.withLock { $0.log.begin(segment) }
        return (segment, SegmentHeader.size)
    }

    /// Seals the head. Deletes an empty head. The caller holds `draining`.
    func sealHead() {
        if let empty = folder.state.withLock({ $0.log.takeEmptyHead() }) { return empty.delete() }
        guard
            let (segment, end, count) = folder.state.withLock({ state in
                state.log.head.map { ($0.segment, $0.end, state.log.nextSequence - $0.segment.first) }
            })
        else { return }
        segment.seal(count: count, end: end)
        segment.releaseFile()
        folder.state.withLock { $0.log.headIsSealed() }
    }

    /// Copies all staged samples, and overwrites the memory in which they were staged.
    func drainAndWipe() throws(QueueError) {
        try draining.withLock { (_: inout Void) throws(QueueError) in
            // One half at a time, because samples may be staged in the meantime.
            for _ in 0..<2 {
                try drainLocked()
                folder.state.withLock { $0.staging?.wipeEmptyHalf() }
            }
        }
    }

    // MARK: The end

    /// Copies all staged samples, seals the head, and deletes the staging area. Later drains do nothing.
    func close() {
        draining.withLock { _ in
            do throws(QueueError) {
                try drainLocked()
                sealHead()
                isReleased.withLock { $0 = true }
                let area = folder.state.withLock { $0.staging.take() }?.area
                if area != nil { StagingMark.remove(in: folder.path) }
                area?.delete()
            } catch {
                // Staged samples stay in the staging area, for the next start.
                isReleased.withLock { $0 = true }
                folder.report(.store("\(error)"))
            }
        }
    }

    /// Copies staged samples, if the disk accepts them. Later drains do nothing.
    func letGo() {
        draining.withLock { _ in
            if isReleased.withLock({ $0 }) { return }
            do throws(QueueError) { try drainLocked() } catch { folder.report(.store("\(error)")) }
            isReleased.withLock { $0 = true }
            // Samples that could not be copied stay in the staging area, for the next start.
            let staging = folder.state.withLock { $0.staging.take() }
            if let staging, staging.isEmpty {
                StagingMark.remove(in: folder.path)
                staging.area.delete()
            }
        }
    }
}
