internal import NIOCore

/// Segments of the fixtures that carry splice information: `ads-TRACK/NUMBER`, otherwise as `TRACK/NUMBER`.
enum SignalSegments {
    /// Begins the name of a track whose segments carry signals.
    static let prefix = "ads-"

    /// A segment with the cue of its number: an event message before fragmented media, or a section in a separate
    /// stream of a transport stream.
    static func body(_ body: Body, number: Int, isTransport: Bool) -> Body? {
        guard let buffer = body.bytes(at: 0, count: body.count) else { return nil }
        let media = Array(buffer.readableBytesView)
        let cue = SpliceCue(segment: number)
        if isTransport {
            return Body(SpliceStream.adding(cue?.bytes, numbered: cue == .end ? 1 : 0, to: media))
        }
        return Body((cue.map { eventMessage($0, segment: number) } ?? []) + media)
    }

    /// An `emsg` box (ISO/IEC 23009-1, section 5.10.3.3): version 0 for the begin, and version 1 for the end.
    private static func eventMessage(_ cue: SpliceCue, segment number: Int) -> [UInt8] {
        let (timescale, seconds) = (UInt32(1_000), UInt32(Fixtures.segmentSeconds))
        let names = Array("urn:scte:scte35:2013:bin".utf8) + [0] + Array("1".utf8) + [0]
        var fields: [UInt8]
        if cue == .begin {
            fields = [0, 0, 0, 0] + names + word(timescale) + word(0)
            fields += word(UInt32(SpliceCue.seconds) * timescale) + word(1)
        } else {
            fields = [1, 0, 0, 0] + word(timescale) + word(0) + word(UInt32(number) * seconds * timescale)
            fields += word(0xFFFF_FFFF) + word(2) + names
        }
        let content = Array("emsg".utf8) + fields + cue.bytes
        return word(UInt32(content.count + 4)) + content
    }

    private static func word(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { (shift: UInt32) in UInt8(truncatingIfNeeded: value >> shift) }
    }
}
