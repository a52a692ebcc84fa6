internal import Instrument

/// An event message box, `emsg` (ISO/IEC 23009-1, section 5.10.3.3), versions 0 and 1.
package struct EventMessage: Hashable, Sendable {
    /// The scheme of in-band SCTE-35.
    package static let spliceScheme = "urn:scte:scte35:2013:bin"
    /// The least and the most bytes of a box: the fields without texts, and what one segment may carry.
    private static let (leastBytes, mostBytes) = (8 + 4 + 16, 1 << 20)

    /// The time of an event.
    package enum Time: Hashable, Sendable {
        /// Ticks after the earliest presentation time of the segment (version 0).
        case afterSegmentStart(UInt64)
        /// Ticks on the presentation timeline (version 1).
        case presentation(UInt64)
    }

    /// `scheme_id_uri`.
    package var scheme: String
    /// `value`.
    package var value: String
    /// Ticks in a second.
    package var timescale: UInt32
    /// The time of the event.
    package var time: Time
    /// `event_duration` in ticks; nil if unknown (0xFFFFFFFF).
    package var duration: UInt32?
    /// `id`: messages of one scheme and value with one id are copies.
    package var id: UInt32
    /// `message_data`.
    package var data: [UInt8]

    /// Reads a box with its header.
    /// - Returns: nil unless the bytes are one well-formed box of version 0 or 1.
    package init?(box bytes: [UInt8]) {
        guard Self.leastBytes...Self.mostBytes ~= bytes.count, bytes[4..<8].elementsEqual("emsg".utf8) else {
            return nil
        }
        var reader = BoxReader(bytes[...])
        guard let size = reader.number(4), size == bytes.count else { return nil }
        _ = reader.number(4)
        guard let version = reader.number(1), reader.number(3) != nil else { return nil }
        switch version {
        case 0:
            guard let scheme = reader.text(), let value = reader.text(), let timescale = reader.number(4),
                let delta = reader.number(4)
            else { return nil }
            (self.scheme, self.value, time) = (scheme, value, .afterSegmentStart(delta))
            self.timescale = UInt32(timescale)
            guard let duration = reader.number(4), let id = reader.number(4) else { return nil }
            (self.duration, self.id) = (duration == 0xFFFF_FFFF ? nil : UInt32(duration), UInt32(id))
        case 1:
            guard let timescale = reader.number(4), let instant = reader.number(8), let duration = reader.number(4),
                let id = reader.number(4), let scheme = reader.text(), let value = reader.text()
            else { return nil }
            (self.scheme, self.value, time) = (scheme, value, .presentation(instant))
            (self.timescale, self.id) = (UInt32(timescale), UInt32(id))
            self.duration = duration == 0xFFFF_FFFF ? nil : UInt32(duration)
        default: return nil
        }
        guard timescale > 0 else { return nil }
        data = reader.rest()
    }

    /// The position on the presentation timeline, in nanoseconds.
    /// - Parameter segmentStart: the earliest presentation time of the segment, which times of version 0 count from.
    package func position(segmentStart: Int64) -> Int64 {
        switch time {
        case .afterSegmentStart(let ticks): segmentStart.saturatingAdd(nanoseconds(ticks))
        case .presentation(let ticks): nanoseconds(ticks)
        }
    }

    /// The duration in nanoseconds; nil if unknown.
    package var nanosecondsOfDuration: Int64? { duration.map { nanoseconds(UInt64($0)) } }

    private func nanoseconds(_ ticks: UInt64) -> Int64 {
        let wide = ticks.multipliedFullWidth(by: 1_000_000_000)
        guard wide.high < UInt64(timescale) else { return .max }
        return Int64(clamping: UInt64(timescale).dividingFullWidth(wide).quotient)
    }
}

/// Reads the fields of a box, and never past its end.
private struct BoxReader {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    mutating func number(_ count: Int) -> UInt64? {
        guard bytes.count >= count else { return nil }
        defer { bytes = bytes.dropFirst(count) }
        return bytes.prefix(count).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// A text that ends with a zero.
    mutating func text() -> String? {
        guard let end = bytes.firstIndex(of: 0) else { return nil }
        defer { bytes = bytes[(end + 1)...] }
        return String(validating: bytes[..<end], as: UTF8.self)?.streamSafe
    }

    mutating func rest() -> [UInt8] { Array(bytes) }
}
