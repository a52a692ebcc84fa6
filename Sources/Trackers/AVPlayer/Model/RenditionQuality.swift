internal import Instrument

/// Judges changes of the rendered quality: the picture's size, else the bit rate.
///
/// One switch of AVPlayer shows twice, as a size and as a bit rate, up to a buffer's length apart. The second half of a
/// switch in the same direction is not another change.
struct RenditionQuality: Hashable {
    private enum Measure { case size, bitrate }

    /// The longest time between the two halves of one switch: the buffer that AVPlayer keeps at most, roughly.
    static let longestLag: Duration = .seconds(60)

    private(set) var width: Int?
    private(set) var height: Int?
    private(set) var bitrate: Int?
    /// The first half of a switch whose second half has not come.
    private var half: Half?

    private struct Half: Hashable {
        var measure: Measure
        var isUp: Bool
        var instant: MonotonicInstant
    }

    /// Takes a size; returns whether the quality rose (true) or fell (false), nil if it did not change.
    ///
    /// A size of zero or less is unknown, as during AirPlay.
    mutating func resize(width: Double, height: Double, at now: MonotonicInstant) -> Bool? {
        guard let width = MediaTime.known(width), let height = MediaTime.known(height), width < 1 << 30,
            height < 1 << 30
        else { return nil }
        let before = self.width.flatMap { width in self.height.map { width * $0 } }
        (self.width, self.height) = (width, height)
        guard let before, before != width * height else { return nil }
        return judge(.size, isUp: width * height > before, at: now)
    }

    /// Takes a bit rate; returns whether the quality rose or fell, nil if it did not change.
    mutating func set(bitrate: Int, at now: MonotonicInstant) -> Bool? {
        let before = self.bitrate
        self.bitrate = bitrate
        guard let before, before != bitrate else { return nil }
        return judge(.bitrate, isUp: bitrate > before, at: now)
    }

    private mutating func judge(_ measure: Measure, isUp: Bool, at now: MonotonicInstant) -> Bool? {
        if let half, half.measure != measure, half.isUp == isUp, half.instant.duration(to: now) <= Self.longestLag {
            self.half = nil
            return nil
        }
        half = Half(measure: measure, isUp: isUp, instant: now)
        return isUp
    }

    /// Forgets the open half: what was seen before the start is no change.
    mutating func settle() { half = nil }
}

/// Sums the counters of access log entries.
struct AccessLogSums: Hashable {
    /// Frames that were dropped, of all entries; nil as long as no entry says.
    private(set) var droppedFrameCount: Int?
    private(set) var entryCount = 0
    private var lastCounts: [Int] = []

    /// Takes all entries of the log. Each entry adds what its counter grew by: a counter that shrank adds nothing, and
    /// counts from there on.
    mutating func take(_ entries: [AccessLogEntry]) {
        entryCount = entries.count
        if lastCounts.count > entries.count { lastCounts.removeLast(lastCounts.count - entries.count) }
        for (index, entry) in entries.enumerated() {
            if index == lastCounts.count { lastCounts.append(0) }
            guard entry.droppedFrameCount >= 0 else { continue }
            let (growth, _) = entry.droppedFrameCount.subtractingReportingOverflow(lastCounts[index])
            let (sum, overflow) = (droppedFrameCount ?? 0).addingReportingOverflow(max(0, growth))
            droppedFrameCount = overflow ? .max : sum
            lastCounts[index] = entry.droppedFrameCount
        }
    }
}
