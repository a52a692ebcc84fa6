internal import Instrument

/// Points of a history in fourteen bytes each: a day in minutes, or two weeks in quarters of an hour. A ring of fixed
/// size once it is full.
///
/// The place in the ring is the time: intervals of which nothing is known have a place, too. Times of playing and
/// stalls have the resolution of the scale; other values are exact up to 32,767, and have steps of 64 above, up to two
/// millions.
struct PackedSeries: Hashable, Sendable {
    private struct Packed: Hashable, Sendable {
        var playing: UInt16 = 0
        var rebuffering: UInt16 = 0
        var bitrate: UInt16 = 0
        var startup: UInt16 = 0
        var latency: UInt16 = 0
        var buffer: UInt16 = 0
        var errors: UInt8 = 0
        var flags: UInt8 = 0
    }

    /// The bit of a point of which something is known.
    private static let known: UInt8 = 4

    /// The most points.
    let limit: Int
    /// The length of an interval, in minutes.
    let unit: Int32
    /// The unit of playing and stalls, in milliseconds.
    let scale: UInt32
    private var storage: [Packed] = []
    private var start = 0
    /// The intervals up to the latest point, unknown ones included.
    private var count = 0
    /// The minute of the latest point.
    private(set) var latestMinute: Int32?

    init(limit: Int, unit: Int32, scale: UInt32) { (self.limit, self.unit, self.scale) = (limit, unit, scale) }

    /// Appends a point; one that is not later than the latest point replaces it, or is left out.
    mutating func append(_ point: HistoryPoint) {
        let minute = point.minute - point.minute % unit
        if let latest = latestMinute {
            if minute < latest { return }
            // Behind a gap as long as the series, all that is known is too old.
            let gap = (Int(minute) - Int(latest)) / Int(unit)
            if gap >= limit { (storage, start, count) = ([], 0, 0) }
            if gap == 0, count > 0 { count -= 1 }
            if gap < limit { for _ in 1..<max(1, gap) { push(Packed()) } }
        }
        latestMinute = minute
        push(pack(point))
    }

    /// Moves all points by minutes, by whole intervals.
    mutating func move(byMinutes minutes: Int) {
        latestMinute = latestMinute.map { Int32(clamping: Int($0) + Int(unit) * minutes.units(of: Int(unit))) }
    }

    /// The latest points, the oldest first.
    func latest(_ number: Int) -> [HistoryPoint] {
        var points: [HistoryPoint] = []
        points.reserveCapacity(min(max(0, number), count))
        var index = count
        while index > 0, points.count < number {
            index -= 1
            if let point = point(at: index) { points.append(point) }
        }
        return points.reversed()
    }

    /// The points from a minute on, the oldest first.
    func points(from first: Int32) -> [HistoryPoint] {
        guard let latestMinute else { return [] }
        let number = latestMinute < first ? 0 : (Int(latestMinute) - Int(first)) / Int(unit) + 1
        return (max(0, count - number)..<count).compactMap { point(at: $0) }
    }

    private mutating func push(_ packed: Packed) {
        if count == storage.count { grow() }
        storage[(start + count) % storage.count] = packed
        count += 1
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

    private func point(at index: Int) -> HistoryPoint? {
        let packed = storage[(start + index) % storage.count]
        guard let latestMinute, packed.flags & Self.known != 0 else { return nil }
        return unpack(packed, minute: latestMinute - Int32(count - 1 - index) * unit)
    }

    private func pack(_ point: HistoryPoint) -> Packed {
        Packed(
            playing: UInt16(clamping: point.playing / scale),
            rebuffering: UInt16(clamping: point.rebuffering / scale),
            bitrate: Self.shortened(point.bitrate),
            startup: Self.shortened(point.startup),
            latency: Self.shortened(point.latency),
            buffer: Self.shortened(point.buffer),
            errors: UInt8(clamping: point.errors),
            flags: (point.wasDown ? 1 : 0) | (point.wasImpaired ? 2 : 0) | Self.known
        )
    }

    private func unpack(_ packed: Packed, minute: Int32) -> HistoryPoint {
        var point = HistoryPoint(minute: minute)
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
