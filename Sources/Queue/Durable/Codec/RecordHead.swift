internal import Instrument

/// The encoded tracker and time of a sample: three numbers of at most ten bytes.
struct RecordHead {
    let tracker: TrackerID
    let time: Timestamp
    private(set) var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    private(set) var count = 0

    /// The size of the memory of the bytes.
    static var capacity: Int { 32 }

    init(_ tracker: TrackerID, _ time: Timestamp) {
        (self.tracker, self.time) = (tracker, time)
        count = withUnsafeMutableBytes(of: &words) { bytes in
            guard let start = bytes.baseAddress else { return 0 }
            var place = RecordWriter.put(signed: Int64(tracker.number), at: start)
            place = RecordWriter.put(signed: time.instant.nanoseconds, at: place)
            place = RecordWriter.put(signed: time.wallTime.milliseconds, at: place)
            return start.distance(to: place)
        }
    }
}
