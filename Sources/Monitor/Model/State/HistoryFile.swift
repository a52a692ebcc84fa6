internal import Instrument

/// The bytes of the file with the history of streams: a head, and blocks that were appended, each with a checksum.
///
/// A block is the four bytes `IHB2`, the length of what follows the checksum (4 bytes), the checksum (FNV-1a, 8 bytes),
/// the name of a stream, and entries. All numbers are little-endian, a text is its length (2 bytes) and its UTF-8
/// bytes.
/// What a later block states of an interval replaces what an earlier one states. A reader that finds a damaged block
/// continues with the next `IHB2`.
enum HistoryFile {
    static let head = Array("IMHIST2\n".utf8)
    private static let mark = Array("IHB2".utf8)
    private static let prefixLength = 16
    private static let pointLength = 33
    /// A longer block is damaged.
    private static let longestBlock = 1 << 20

    /// What a block has of one stream.
    struct Entries: Sendable {
        var minutes: [HistoryPoint] = []
        var quarters: [HistoryPoint] = []
        var log: [LogEntry] = []

        var isEmpty: Bool { minutes.isEmpty && quarters.isEmpty && log.isEmpty }
    }

    static func append(_ entries: Entries, of name: String, to bytes: inout [UInt8]) {
        guard !entries.isEmpty else { return }
        let start = bytes.count
        bytes += mark
        bytes.append(contentsOf: [UInt8](repeating: 0, count: prefixLength - mark.count))
        append(name, to: &bytes)
        for (points, kind) in [(entries.minutes, UInt8(ascii: "m")), (entries.quarters, UInt8(ascii: "q"))]
        where !points.isEmpty {
            bytes.append(kind)
            append(UInt64(points.count), 4, to: &bytes)
            for point in points { append(point, to: &bytes) }
        }
        for entry in entries.log {
            bytes.append(UInt8(ascii: "e"))
            append(UInt64(bitPattern: entry.time.milliseconds), 8, to: &bytes)
            append(entry.kind, to: &bytes)
            append(entry.text, to: &bytes)
        }
        let payload = start + prefixLength
        var prefix: [UInt8] = []
        append(UInt64(bytes.count - payload), 4, to: &prefix)
        append(checksum(bytes, payload..<bytes.count), 8, to: &prefix)
        bytes.replaceSubrange(start + mark.count..<payload, with: prefix)
    }

    /// Reads the blocks in their order.
    /// - Returns: the number of damaged places; nil if the bytes are no history of this version.
    static func read(_ bytes: [UInt8], _ take: (String, Entries) -> Void) -> Int? {
        guard bytes.starts(with: head) else { return nil }
        var (position, damages) = (head.count, 0)
        while position < bytes.count {
            if let end = readBlock(bytes, position, take) {
                position = end
            } else {
                damages += 1
                position = nextMark(bytes, from: position + 1) ?? bytes.count
            }
        }
        return damages
    }

    private static func readBlock(_ bytes: [UInt8], _ start: Int, _ take: (String, Entries) -> Void) -> Int? {
        let payload = start + prefixLength
        guard payload <= bytes.count, bytes[start..<start + mark.count].elementsEqual(mark) else { return nil }
        var reader = Reader(bytes: bytes, position: start + mark.count, end: payload)
        guard let length = reader.number(4).flatMap({ Int(exactly: $0) }), length <= longestBlock,
            length <= bytes.count - payload, let sum = reader.number(8),
            sum == checksum(bytes, payload..<payload + length)
        else { return nil }
        reader = Reader(bytes: bytes, position: payload, end: payload + length)
        guard let name = reader.text() else { return nil }
        var entries = Entries()
        while let kind = reader.number(1) {
            switch UInt8(truncatingIfNeeded: kind) {
            case UInt8(ascii: "m"): guard reader.points(into: &entries.minutes) else { return nil }
            case UInt8(ascii: "q"): guard reader.points(into: &entries.quarters) else { return nil }
            case UInt8(ascii: "e"):
                guard let time = reader.number(8), let kind = reader.text(), let text = reader.text() else {
                    return nil
                }
                let wallTime = WallTime(milliseconds: Int64(bitPattern: time))
                entries.log.append(LogEntry(time: wallTime, kind: kind, text: text))
            default: return nil
            }
        }
        take(name, entries)
        return payload + length
    }

    private static func nextMark(_ bytes: [UInt8], from start: Int) -> Int? {
        var position = start
        while position + mark.count <= bytes.count {
            if bytes[position] == mark[0], bytes[position..<position + mark.count].elementsEqual(mark) {
                return position
            }
            position += 1
        }
        return nil
    }

    // MARK: Numbers and texts

    private struct Reader {
        let bytes: [UInt8]
        var position: Int
        let end: Int

        mutating func number(_ count: Int) -> UInt64? {
            guard count <= end - position else { return nil }
            var value: UInt64 = 0
            for index in (0..<count).reversed() { value = value << 8 | UInt64(bytes[position + index]) }
            position += count
            return value
        }

        mutating func text() -> String? {
            guard let count = number(2).map({ Int($0) }), count <= end - position else { return nil }
            defer { position += count }
            return String(decoding: bytes[position..<position + count], as: UTF8.self)
        }

        mutating func points(into points: inout [HistoryPoint]) -> Bool {
            guard let count = number(4), count <= UInt64((end - position) / HistoryFile.pointLength) else {
                return false
            }
            points.reserveCapacity(points.count + Int(count))
            for _ in 0..<count {
                guard let point = point() else { return false }
                points.append(point)
            }
            return true
        }

        private mutating func point() -> HistoryPoint? {
            func next() -> UInt32 { UInt32(truncatingIfNeeded: number(4) ?? 0) }
            guard HistoryFile.pointLength <= end - position else { return nil }
            var point = HistoryPoint(minute: Int32(bitPattern: next()))
            (point.playing, point.rebuffering, point.bitrate) = (next(), next(), next())
            (point.startup, point.latency, point.buffer) = (next(), next(), next())
            point.errors = UInt16(clamping: next())
            let flags = number(1) ?? 0
            (point.wasDown, point.wasImpaired) = (flags & 1 != 0, flags & 2 != 0)
            return point
        }
    }

    private static func append(_ point: HistoryPoint, to bytes: inout [UInt8]) {
        let numbers = [
            UInt32(bitPattern: point.minute), point.playing, point.rebuffering, point.bitrate, point.startup,
            point.latency, point.buffer, UInt32(point.errors),
        ]
        for number in numbers { append(UInt64(number), 4, to: &bytes) }
        bytes.append((point.wasDown ? 1 : 0) | (point.wasImpaired ? 2 : 0))
    }

    private static func append(_ number: UInt64, _ count: Int, to bytes: inout [UInt8]) {
        for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * UInt64(index)))) }
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        let utf8 = text.utf8.prefix(Int(UInt16.max))
        append(UInt64(utf8.count), 2, to: &bytes)
        bytes += utf8
    }

    /// FNV-1a of 64 bits, over bytes in memory: the generic function of another module takes many times as long.
    private static func checksum(_ bytes: [UInt8], _ range: Range<Int>) -> UInt64 {
        bytes.withUnsafeBytes { buffer in
            var hash: UInt64 = 0xCBF2_9CE4_8422_2325
            for byte in buffer[range] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            return hash
        }
    }
}
