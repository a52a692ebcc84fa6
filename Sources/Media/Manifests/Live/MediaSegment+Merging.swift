internal import Instrument
internal import InstrumentHTTP

extension MediaSegment {
    /// The name of a segment without tokens in its address: the path's last part and the byte range.
    struct Name: Hashable {
        var file: Substring
        var byteRange: ByteRange?
    }

    var name: Name { Name(file: url.path.split(separator: "/").last ?? "", byteRange: byteRange) }

    /// Whether two segments with the same number are the same. A server that restarted may reuse names, but not
    /// dates.
    func isSame(as other: MediaSegment, within tolerance: Int64) -> Bool {
        guard datesAgree(with: other, within: tolerance) else { return false }
        return url == other.url && byteRange == other.byteRange || name == other.name
    }

    /// Whether both have the same programme date, or one has none.
    func datesAgree(with other: MediaSegment, within tolerance: Int64) -> Bool {
        guard let date = wallTime, let otherDate = other.wallTime else { return true }
        return date.nanoseconds(since: otherDate).magnitude <= max(tolerance, 1_000_000_000).magnitude
    }

    func moved(by offset: Int64) -> MediaSegment {
        var segment = self
        segment.start = start.saturatingAdd(offset)
        return segment
    }

    func renumbered(by shift: Int64, discontinuity other: Int64) -> MediaSegment {
        var segment = self
        segment.sequence = sequence.saturatingAdd(shift)
        segment.discontinuity = discontinuity.saturatingAdd(other)
        return segment
    }
}
