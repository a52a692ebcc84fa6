internal import Instrument

/// Points of a history in sixteen bytes each, which together reach over a fixed time: a day in minutes, or two weeks in
/// quarters of an hour. A ring of fixed size once it is full.
///
/// Times of playing and stalls have the resolution of the scale; other values are exact up to 32,767, and have
/// steps of 64 above, up to two millions.
struct PackedSeries: Hashable, Sendable {
    private struct Packed: Hashable, Sendable {
        /// The lower bits of the minute: all points are from the same few days.
        var minute: UInt16 = 0
        var playing: UInt16 = 0
        var rebuffering: UInt16 = 0
        var bitrate: UInt16 = 0
        var startup: UInt16 = 0
        var latency: UInt16 = 0
        var buffer: UInt16 = 0
        var errors: UInt8 = 0
        var flags: UInt8 = 0
    }

    /// The most points.
    let limit: Int
    /// The time that the points reach over, in minutes; less than 45 days.
    let reach: Int32
    /// The unit of playing and stalls, in milliseconds.
    let scale: UInt32
    private var storage: [Packed] = []
    private var start = 0
    private(set) var count = 0
    /// The minute of the latest point.
    private(set) var latestMinute: Int32?

    init(limit: Int, reach: Int32, scale: UInt32) { (self.limit, self.reach, self.scale) = (limit, reach, scale) }

    /// Appends a point; one that is not later than the latest point replaces it, or is left out.
    mutating func append(_ point: HistoryPoint) {
        if let latest = latestMinute {
            if point.minute < latest { return }
            if point.minute == latest, count > 0 { count -= 1 }
        }
        latestMinute = point.minute
        while count > 0, point.minute - minute(at: 0, latest: point.minute) >= reach {
            start = (start + 1) % storage.count
            count -= 1
        }
        if count == storage.count { grow() }
        storage[(start + count) % storage.count] = pack(point)
        count += 1
    }

    /// The latest points, the oldest first.
    func latest(_ number: Int) -> [HistoryPoint] {
        guard let latestMinute, count > 0 else { return [] }
        return (max(0, count - number)..<count).map { unpack($0, latest: latestMinute) }
    }

    /// The points from a minute on, the oldest first.
    func points(from first: Int32) -> [HistoryPoint] {
        guard let latestMinute else { return [] }
        var index = count
        while index > 0, minute(at: index - 1, latest: latestMinute) >= first { index -= 1 }
        return (index..<count).map { unpack($0, latest: latestMinute) }
    }

    /// Makes room, twice as much until the limit, and not more, as an array would. At the limit, the oldest point goes.
    private mutating func grow() {
        if storage.count >= limit {
            start = (start + 1) % storage.count
            count -= 1
            return
        }
        let capacity = min(limit, max(16, storage.count * 2))
        var larger: [Packed] = []
        larger.reserveCapacity(capacity)
        for index in 0..<count { larger.append(storage[(start + index) % storage.count]) }
        for _ in count..<capacity { larger.append(Packed()) }
        (storage, start) = (larger, 0)
    }

    private func minute(at index: Int, latest: Int32) -> Int32 {
        let low = storage[(start + index) % storage.count].minute
        return latest - Int32(UInt16(truncatingIfNeeded: latest) &- low)
    }

    private func pack(_ point: HistoryPoint) -> Packed {
        Packed(
            minute: UInt16(truncatingIfNeeded: point.minute),
            playing: UInt16(clamping: point.playing / scale),
            rebuffering: UInt16(clamping: point.rebuffering / scale),
            bitrate: Self.shortened(point.bitrate),
            startup: Self.shortened(point.startup),
            latency: Self.shortened(point.latency),
            buffer: Self.shortened(point.buffer),
            errors: UInt8(clamping: point.errors),
            flags: (point.wasDown ? 1 : 0) | (point.wasImpaired ? 2 : 0)
        )
    }

    private func unpack(_ index: Int, latest: Int32) -> HistoryPoint {
        let packed = storage[(start + index) % storage.count]
        var point = HistoryPoint(minute: minute(at: index, latest: latest))
        (point.playing, point.rebuffering) = (UInt32(packed.playing) * scale, UInt32(packed.rebuffering) * scale)
        (point.bitrate, point.startup) = (Self.lengthened(packed.bitrate), Self.lengthened(packed.startup))
        (point.latency, point.buffer) = (Self.lengthened(packed.latency), Self.lengthened(packed.buffer))
        point.errors = UInt16(packed.errors)
        (point.wasDown, point.wasImpaired) = (packed.flags & 1 != 0, packed.flags & 2 != 0)
        return point
    }

    private static func shortened(_ value: UInt32) -> UInt16 {
        value < 0x8000 ? UInt16(value) : 0x8000 | UInt16(min(value >> 6, 0x7FFF))
    }

    private static func lengthened(_ value: UInt16) -> UInt32 {
        value < 0x8000 ? UInt32(value) : UInt32(value & 0x7FFF) << 6
    }
}
