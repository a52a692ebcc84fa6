internal import InstrumentTransport

extension MediaSegment {
    /// What names a segment whatever token its address carries: the path's last part and the byte range.
    struct Name: Hashable {
        var file: Substring
        var byteRange: ByteRange?
    }

    var name: Name { Name(file: url.path.split(separator: "/").last ?? "", byteRange: byteRange) }

    /// Whether two segments with the same number are the same.
    func isSame(as other: MediaSegment) -> Bool {
        url == other.url && byteRange == other.byteRange || name == other.name
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
