internal import Instrument

/// What the parts of a directory store share under one lock: the log, the staged samples, and the backends' places.
///
/// Its methods change memory only, and never wait for the disk: `emit` takes the lock.
struct FolderState: ~Copyable {
    var log: SegmentedLog
    /// The samples that were appended and not copied into the log; nil while this store is only read.
    var staging: Staging?
    /// The sequence number after the last appended sample.
    var nextSequence: UInt64
    /// The sequence number after the last sample that survives a loss of power.
    var synchronizedEnd: UInt64 = 0
    var places: [BackendPlace] = []
    var isSynchronizationDue = false
    var unsynchronized = 0
    var needsMaintenance = false
    var areChoresDue = false
    var isDrainScheduled = false
    /// Whether a drain has been scheduled that has not begun.
    var isDrainQueued = false
    /// Whether a retry of a drain that failed is scheduled.
    var isDrainRetryQueued = false
    /// The clock by which a drain that failed is retried.
    var retryClock: any SchedulingClock = SystemClock()
    /// Whether a search for deleted files is scheduled.
    var isRestoringQueued = false
    /// Whether the disk has not responded in time.
    var isStalled = false
    var drainFailures = 0
    var drainFailure: QueueError?
    /// The end of the dropped samples.
    var droppedEnd: UInt64 = 0
    /// Erased samples that are still in the segments, and sequence numbers without samples.
    var erased = SequenceSet()
    /// Sequence numbers without samples.
    var absent = SequenceSet()
    /// The absent numbers, the erased samples and the forgotten backends that the bookkeeping does not have yet.
    var unsavedAbsent = SequenceSet()
    var unsavedErased = SequenceSet()
    var unsavedForgotten: Set<String> = []
    /// The first held sample.
    var heldFrom: UInt64?
    /// The sums of deleted logs, by backend.
    var carried: [String: Bookkeeping.CarriedSum]
    /// The number of refused samples that the places have counted.
    var refusedCount = 0
    /// Whether the folder was released without being closed: work that was scheduled before changes no file.
    var isLetGo = false
    /// The failures that were reported and have not ended.
    var failures: [StoreFolder.Work: String] = [:]
    /// Whether the log has samples but no place: then the places were lost, and backends begin with the oldest
    /// sample.
    var hasLostPlaces = false

    init(
        log: consuming SegmentedLog,
        places: [BackendPlace],
        erased: SequenceSet,
        absent: SequenceSet,
        heldFrom: UInt64?,
        carried: [String: Bookkeeping.CarriedSum]
    ) {
        self.carried = carried
        nextSequence = log.nextSequence
        self.log = log
        self.places = places
        self.erased = erased
        self.absent = absent
        self.heldFrom = heldFrom
    }

    /// The sequence numbers that a backend has not passed.
    func waiting(_ row: Bookkeeping.PlaceRow) -> Range<UInt64> { row.cursor..<max(row.cursor, nextSequence) }

    /// The number of samples in a range of sequence numbers, including samples that were deleted after delivery.
    func count(_ range: Range<UInt64>) -> Int { range.count - erased.count(in: range) }

    /// Adds the sums of deleted logs.
    mutating func carry(_ sums: [Bookkeeping.CarriedSum]) {
        for sum in sums {
            let known = carried[sum.name] ?? Bookkeeping.CarriedSum(name: sum.name)
            carried[sum.name] = Bookkeeping.CarriedSum(
                name: sum.name,
                acknowledged: known.acknowledged + sum.acknowledged,
                drops: known.drops.merging(sum.drops, uniquingKeysWith: +)
            )
        }
    }
}
