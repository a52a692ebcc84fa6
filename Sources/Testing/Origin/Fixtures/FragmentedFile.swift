internal import Instrument
internal import InstrumentText
internal import NIOCore

/// A fragmented MP4 file of one track: the positions of its parts (ISO/IEC 14496-12: `moov`, `sidx` 8.16.3, `tfdt`
/// 8.8.12).
struct FragmentedFile: Sendable {
    /// A part that starts with a random access point.
    struct Fragment: Hashable, Sendable {
        var range: Range<Int>
        /// In units of the timescale.
        var start: Int
        var duration: Int
    }

    let bytes: ByteBuffer
    /// From the beginning to the end of `moov`.
    let initialization: Range<Int>
    /// The index.
    let index: Range<Int>
    let timescale: Int
    let fragments: [Fragment]
    /// The value for `CODECS` of a playlist (RFC 6381).
    let codecs: String

    /// In units of the timescale.
    var duration: Int { fragments.last.map { $0.start + $0.duration } ?? 0 }

    /// Reads the positions of the parts; nil if this is no such file.
    init?(_ bytes: ByteBuffer) {
        guard let moov = Box.first("moov", in: bytes, range: 0..<bytes.readableBytes),
            let sidx = Box.first("sidx", in: bytes, range: 0..<bytes.readableBytes),
            let index = SidxBox(bytes, sidx), index.timescale > 0
        else { return nil }
        self.bytes = bytes
        initialization = 0..<moov.upperBound
        self.index = sidx
        timescale = index.timescale
        fragments = index.fragments
        codecs = Self.codecs(bytes.getBytes(at: moov.lowerBound, length: moov.count) ?? [])
    }

    /// The initialization segment.
    var initializationBody: Body { Body.buffer(bytes).part(initialization) }

    /// Returns a fragment after that number of loops: its decode time continues.
    func body(of fragment: Int, round: Int) -> Body? {
        guard fragments.indices.contains(fragment) else { return nil }
        let range = fragments[fragment].range
        guard round > 0 else { return Body.buffer(bytes).part(range) }
        guard var copy = bytes.getBytes(at: range.lowerBound, length: range.count).map(ByteBuffer.init(bytes:)) else {
            return nil
        }
        // A copy instead of a slice, because it is changed in place.
        let (shift, overflow) = duration.multipliedReportingOverflow(by: round)
        if overflow { return nil }
        Self.shift(&copy, by: shift)
        return .buffer(copy)
    }

    private static func shift(_ fragment: inout ByteBuffer, by time: Int) {
        guard let moof = Box.first("moof", in: fragment, range: 0..<fragment.readableBytes),
            let traf = Box.first("traf", in: fragment, range: moof.dropFirst(8)),
            let tfdt = Box.first("tfdt", in: fragment, range: traf.dropFirst(8)),
            let version = fragment.getInteger(at: tfdt.lowerBound + 8, as: UInt8.self)
        else { return }
        let place = tfdt.lowerBound + 12
        if version == 1, let base = fragment.getInteger(at: place, as: UInt64.self) {
            fragment.setInteger(base &+ UInt64(clamping: time), at: place)
        } else if let base = fragment.getInteger(at: place, as: UInt32.self) {
            fragment.setInteger(UInt32(truncatingIfNeeded: Int(base) &+ time), at: place)
        }
    }

    /// From the first sample entry: `avcC` holds profile, constraints and level (ISO/IEC 14496-15, 5.3.3.1).
    private static func codecs(_ moov: [UInt8]) -> String {
        let name = Array("avcC".utf8)
        guard moov.count > 12 else { return "mp4a.40.2" }
        for index in 0..<(moov.count - 8) where Array(moov[index..<(index + 4)]) == name {
            return "avc1." + moov[(index + 5)..<(index + 8)].hexadecimal(uppercase: true)
        }
        // AAC, low complexity: the only sound that fixtures have.
        return "mp4a.40.2"
    }
}

/// The boxes of a file.
enum Box {
    /// The range of the first box of that type, including its header.
    static func first(_ type: String, in bytes: ByteBuffer, range: Range<Int>) -> Range<Int>? {
        var offset = range.lowerBound
        while offset + 8 <= range.upperBound {
            guard let size = bytes.getInteger(at: offset, as: UInt32.self), size >= 8 else { return nil }
            let end = offset + Int(size)
            guard end <= range.upperBound else { return nil }
            if bytes.getString(at: offset + 4, length: 4) == type { return offset..<end }
            offset = end
        }
        return nil
    }
}

/// A segment index box (ISO/IEC 14496-12, 8.16.3) that refers to media only.
private struct SidxBox {
    let timescale: Int
    let fragments: [FragmentedFile.Fragment]

    init?(_ bytes: ByteBuffer, _ box: Range<Int>) {
        guard let version = bytes.getInteger(at: box.lowerBound + 8, as: UInt8.self),
            let timescale = bytes.getInteger(at: box.lowerBound + 16, as: UInt32.self)
        else { return nil }
        self.timescale = Int(timescale)
        let times = box.lowerBound + 20
        let table = times + (version == 0 ? 8 : 16)
        let offset =
            version == 0
            ? bytes.getInteger(at: times + 4, as: UInt32.self).map(UInt64.init)
            : bytes.getInteger(at: times + 8, as: UInt64.self)
        guard let offset, let count = bytes.getInteger(at: table + 2, as: UInt16.self),
            var place = Int(exactly: offset), place <= bytes.readableBytes
        else { return nil }
        place += box.upperBound
        var start = 0
        var fragments: [FragmentedFile.Fragment] = []
        for number in 0..<Int(count) {
            let entry = table + 4 + 12 * number
            guard entry + 12 <= box.upperBound, let size = bytes.getInteger(at: entry, as: UInt32.self),
                size >> 31 == 0, let duration = bytes.getInteger(at: entry + 4, as: UInt32.self),
                place + Int(size) <= bytes.readableBytes
            else { return nil }
            let range = place..<(place + Int(size))
            fragments.append(FragmentedFile.Fragment(range: range, start: start, duration: Int(duration)))
            place = range.upperBound
            start += Int(duration)
        }
        self.fragments = fragments
    }
}
