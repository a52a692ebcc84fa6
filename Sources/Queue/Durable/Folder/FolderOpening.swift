internal import Instrument

/// The opened files of a folder, before what earlier processes left is recovered.
struct FolderOpening {
    let folder: StoreFolder
    /// The backends' places in the bookkeeping, and without the samples of the files that cannot be opened.
    let rows: [Bookkeeping.PlaceRow]
    let rowsLeft: [Bookkeeping.PlaceRow]
    /// The mark of the staging area of an earlier process.
    let mark: StagingMark?
    /// The files that cannot be opened.
    let unopened: [SegmentedLog.Unopened]
    /// Whether every file of the log is here.
    let isEndKnown: Bool
    /// Whether the bookkeeping was damaged.
    let wasSetAside: Bool

    /// Opens the folder that `lock` owns. Replaces a damaged bookkeeping, which is set aside: every backend then
    /// receives all stored samples again.
    /// - Throws: if a file in the folder cannot be opened or read at the moment. Then nothing is changed or deleted.
    init(
        path: String,
        lock: consuming sending DirectoryLock,
        configuration: DurableConfiguration,
        randomness: RandomSource,
        report: @escaping @Sendable (Diagnostic) -> Void
    ) throws(QueueError) {
        // First, so that after a failure the folder is released last.
        let lock = OrderedLock<DirectoryLock?>(.lock, lock)
        let heldFrom = try HeldMark.read(in: path)
        mark = try StagingMark.read(in: path)
        let (bookkeeping, wasSetAside) = try Self.openBookkeeping(path, configuration, report)
        self.wasSetAside = wasSetAside
        var unopened: [SegmentedLog.Unopened] = []
        do {
            // The headers of segments have a checksum, so that their number has precedence.
            let known = SegmentFiles.logNumber(in: path) ?? mark?.logNumber
            let kept = try bookkeeping.logNumber(orElse: known ?? randomness.next())
            let logNumber = known ?? kept
            rows = try bookkeeping.places()
            var absent = try bookkeeping.absent()
            var erased = try bookkeeping.erased(onlyUndone: false)
            erased.formUnion(absent)
            let log = try SegmentedLog(
                directory: path,
                segmentSize: configuration.segmentSize,
                log: logNumber,
                atLeast: Self.firstUnused(rows, erased),
                newest: try BootSession.identifier.map(bookkeeping.newest) ?? [:],
                unopened: &unopened,
                report: { report(.store($0)) }
            )
            let forgottenLeaps = rows.isEmpty ? log.leaps : SequenceSet()
            absent.formUnion(forgottenLeaps)
            erased.formUnion(forgottenLeaps)
            Self.locateSpare(in: &unopened, log, rows, erased)
            // Segments that every backend has passed need not be opened.
            unopened.removeAll { [rows] file in
                guard let end = file.numbers?.upperBound else { return false }
                return !rows.isEmpty && rows.allSatisfy { $0.cursor >= end }
            }
            var leaving = rows
            for numbers in unopened.compactMap(\.numbers) {
                for index in leaving.indices { leaving[index].leave(numbers, erased) }
                erased.insert(numbers)
            }
            rowsLeft = leaving
            var places = try BackendPlace.places(leaving, in: log, erased, bookkeeping)
            for index in places.indices { places[index].isChanged = !unopened.isEmpty }
            var state = FolderState(
                log: log,
                places: places,
                erased: erased,
                absent: absent,
                heldFrom: heldFrom,
                carried: try bookkeeping.carriedSums()
            )
            let isEndElsewhere = unopened.contains { $0.numbers == nil || $0.isSpare }
            // Before the file moves: after a kill, the next start must not count its samples as lost.
            if isEndElsewhere { try bookkeeping.setEndOpen(true) }
            isEndKnown = try !isEndElsewhere && !bookkeeping.isEndOpen()
            state.unsavedAbsent = forgottenLeaps
            state.refusedCount = try bookkeeping.refusedCount()
            folder = StoreFolder(
                path: path,
                configuration: configuration,
                bookkeeping: bookkeeping,
                logNumber: logNumber,
                state: OrderedLock(.state, state),
                lock: lock,
                report: report
            )
        } catch let error as QueueError {
            throw error
        } catch {
            throw QueueError(.storeFailed, "cannot read the bookkeeping in \(path): \(error)")
        }
        self.unopened = unopened
    }

    /// The smallest sequence number that no sample has had, as the bookkeeping knows it: a sample with the number of a
    /// gap would never be delivered.
    static func firstUnused(_ rows: [Bookkeeping.PlaceRow], _ erased: SequenceSet) -> UInt64 {
        max(rows.map(\.cursor).max() ?? 0, erased.ranges.last?.upperBound ?? 0)
    }

    /// Finds the numbers of a spare that cannot be opened: a segment that began as a spare has that name until it is
    /// renamed, and later segments may have their names by then. Its samples are those that no other file has.
    private static func locateSpare(
        in unopened: inout [SegmentedLog.Unopened],
        _ log: SegmentedLog,
        _ rows: [Bookkeeping.PlaceRow],
        _ erased: SequenceSet
    ) {
        guard let index = unopened.firstIndex(where: \.isSpare) else { return }
        let others = unopened.compactMap(\.numbers)
        let oldest = rows.map(\.cursor).min() ?? log.startSequence
        let missing = ([oldest..<max(oldest, log.startSequence)] + log.gaps).filter { gap in
            gap.count > erased.count(in: gap) && !others.contains { $0.overlaps(gap) }
        }
        unopened[index].numbers = missing.last
    }

    private static func openBookkeeping(
        _ path: String,
        _ configuration: DurableConfiguration,
        _ report: (Diagnostic) -> Void
    ) throws(QueueError) -> (Bookkeeping, wasSetAside: Bool) {
        let file = path + "/" + FolderNames.bookkeeping
        try Bookkeeping.prepareFiles(file, report: report)
        let isSynchronous = if case .count = configuration.synchronization { true } else { false }
        do { return (try Bookkeeping.opened(path: file, isSynchronous: isSynchronous), false) } catch {
            guard Bookkeeping.isDamage(error) else {
                throw QueueError(.storeFailed, "cannot open the bookkeeping in \(path): \(error)")
            }
        }
        for ending in ["", "-wal", "-shm"] where Directory.size(of: file + ending) != nil {
            Directory.setAside(file + ending)
        }
        do {
            try Bookkeeping.prepareFiles(file, report: report)
            let bookkeeping = try Bookkeeping.opened(path: file, isSynchronous: isSynchronous)
            report(
                .store("the bookkeeping in \(path) was damaged; it was set aside, and backends begin with the oldest")
            )
            return (bookkeeping, true)
        } catch {
            throw QueueError(.storeFailed, "cannot open the bookkeeping in \(path): \(error)")
        }
    }
}
