internal import Dispatch
internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Copies staged records into segments: the part of keeping a sample that may wait for the disk.
///
/// Whoever drains holds `draining`, and takes the state's lock only between two steps that touch the disk, so that no
/// `append` ever waits behind a disk that hangs.
extension DirectoryStore {
    /// Copies everything that was staged before the call into the log.
    /// - Throws: if a segment could not be made; what is not copied stays staged.
    func drain() throws(QueueError) {
        if state.withLock({ $0.staging?.isEmpty ?? true }) { return }
        try draining.withLock { (_: inout Void) throws(QueueError) in try drainLocked() }
    }

    /// Drains in the background, soon; once for all that is staged until then.
    func scheduleDrain() {
        drainer.async { [weak self] in
            // Not held between two rounds, so that releasing the store is not delayed.
            while self?.drainRound() == true { usleep(Self.drainPause) }
        }
    }

    /// Between two rounds of draining, so that a burst of samples costs few of them, in microseconds.
    private static var drainPause: UInt32 { 500 }

    /// Drains once; false when there was nothing left to drain, or draining failed.
    private func drainRound() -> Bool {
        do throws(QueueError) { try drain() } catch {
            // Callers that append meanwhile get the error; staged records are retried.
            drainer.asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in self?.scheduleDrain() }
            return false
        }
        let isDone = state.withLock { state in
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
            // What was staged, and what is staged while that is copied.
            while let half = state.withLock({ state -> Staging.Taken? in
                state.staging?.take()
                return state.staging?.taken
            }) {
                try copy(half)
            }
        } catch {
            state.withLock { state in
                state.drainFailures += 1
                state.drainFailure = error
            }
            // The folder may have been deleted.
            maintenance.async { [weak self] in self?.restoreWhatIsGone() }
            throw error
        }
        let areChoresDue = state.withLock { state in
            state.drainFailure = nil
            if state.areChoresDue || !state.log.needsChores { return false }
            state.areChoresDue = true
            return true
        }
        if areChoresDue { maintenance.async { [weak self] in self?.doChores() } }
    }

    private func copy(_ half: Staging.Taken) throws(QueueError) {
        // Once for all units: looking costs a system call.
        leaveCutSegment()
        var (start, units) = (half.start, half.units)
        // Ages are kept by segment: with a limit, each append is looked at by itself.
        let step = configuration.limits.maxAge == nil ? units.count : 1
        while !units.isEmpty {
            let count = try copy(units.prefix(step), of: UnsafeRawPointer(half.base), from: start, areStaged: true)
            start = units[units.startIndex + count - 1].end
            units.removeFirst(count)
        }
    }

    /// Copies as many appends as the head has room for, but at least one; returns how many.
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
        let isMaintenanceDue = state.withLock { state in
            state.log.fill(to: head.end + size, endSequence: last.endSequence, newest: last.instant)
            // In the same step, so that nothing counts twice.
            if areStaged { state.staging?.copied(fitting.count) }
            // The disk responds.
            state.isStalled = false
            makeRoom(in: &state)
            return state.needsMaintenance
        }
        if isMaintenanceDue { maintenance.async { [weak self] in self?.maintain() } }
        return fitting.count
    }

    /// The segment that is written to; a new one if no segment is open, or the open one has too little room.
    private func head(withRoomFor size: Int) throws(QueueError) -> (segment: Segment, end: Int) {
        if let head = state.withLock({ $0.log.head }), head.segment.capacity - head.end >= size { return head }
        sealHead()
        let (spare, next, path, segmentSize) = state.withLock { state in
            let needed = size + SegmentHeader.size + RecordFormat.headerSize
            let spare = state.log.takeSpare(atLeast: needed)
            let next = state.log.nextSequence
            return (spare, next, state.log.path(of: next), max(state.log.segmentSize, needed))
        }
        let segment = if let spare { spare } else { try Segment(creating: path, capacity: segmentSize) }
        segment.begin(SegmentHeader(log: logNumber, first: next))
        state.withLock { $0.log.begin(segment) }
        return (segment, SegmentHeader.size)
    }

    /// Ends the segment that is written to; one that holds nothing goes. The caller holds `draining`.
    func sealHead() {
        if let empty = state.withLock({ $0.log.takeEmptyHead() }) { return empty.delete() }
        guard
            let (segment, end, count) = state.withLock({ state in
                state.log.head.map { ($0.segment, $0.end, state.log.nextSequence - $0.segment.first) }
            })
        else { return }
        segment.seal(count: count, end: end)
        state.withLock { $0.log.headIsSealed() }
    }

    /// Copies everything and overwrites the memory that it was staged in.
    func drainAndWipe() throws(QueueError) {
        try draining.withLock { (_: inout Void) throws(QueueError) in
            // A half at a time, since samples may be staged meanwhile.
            for _ in 0..<2 {
                try drainLocked()
                state.withLock { $0.staging?.wipeEmptyHalf() }
            }
        }
    }

    /// Keeps samples that are too large to be staged: waits for the disk.
    func appendDirectly(_ samples: [Sample]) throws(QueueError) -> Int {
        try draining.withLock { (_: inout Void) throws(QueueError) in
            while true {
                try drainLocked()
                let first = state.withLock { state -> UInt64? in
                    guard state.staging?.isEmpty ?? true else { return nil }
                    defer { state.nextSequence += UInt64(samples.count) }
                    return state.nextSequence
                }
                guard let first else { continue }
                return try write(samples, from: first)
            }
        }
    }

    private func write(_ samples: [Sample], from first: UInt64) throws(QueueError) -> Int {
        let bytes = samples.enumerated().flatMap { index, sample in
            RecordFormat.bytes(of: SampleEncoder.bytes(of: sample), sequence: first + UInt64(index))
        }
        let instant = samples.last?.time.instant ?? MonotonicInstant(nanoseconds: 0)
        let unit = Staging.Unit(end: bytes.count, endSequence: first + UInt64(samples.count), instant: instant)
        diskWork.begin()
        defer { diskWork.end() }
        leaveCutSegment()
        let failure = bytes.withUnsafeBytes { bytes -> QueueError? in
            guard let base = bytes.baseAddress else { return nil }
            do throws(QueueError) {
                _ = try copy([unit], of: base, from: 0)
                return nil
            } catch { return error }
        }
        if let failure {
            // The numbers were given away: they stay empty.
            sealHead()
            state.withLock { $0.log.skip(to: unit.endSequence) }
            leaveOut(first..<unit.endSequence)
            throw failure
        }
        return bytes.count
    }
}
