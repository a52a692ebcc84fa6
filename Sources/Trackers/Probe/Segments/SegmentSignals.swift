package import InstrumentAds

/// The signals of ad breaks that a segment carries: event messages (`emsg`) of MP4, and streams of type 0x86 of a
/// transport stream.
package enum SegmentSignals {
    /// The type of a stream of splice information (SCTE 35, section 8).
    private static let spliceType: UInt8 = 0x86

    /// The defects of the signals of a segment; of what begins or ends in another segment, nothing is known.
    package static func findings(in media: [UInt8]) -> [AdFinding] {
        switch media.withUnsafeBytes({ SegmentFormat($0) }) {
        case .isoBaseMedia:
            StreamAdReader.messageBoxes(of: media).enumerated().flatMap { findings(ofMessage: $1, at: $0 + 1) }
        case .transportStream: findings(inTransportStream: media)
        case .other: []
        }
    }

    /// The defects of an event message; none where it is of another scheme.
    ///
    /// - Parameter place: its place among the event messages of the segment, from 1 on.
    private static func findings(ofMessage box: [UInt8], at place: Int) -> [AdFinding] {
        guard let message = EventMessage(box: box) else {
            // What another scheme's message contains is not a signal of an ad break.
            guard box.count > 12, box[8] <= 1, contains(EventMessage.spliceScheme, box) else { return [] }
            let rule = "ISO/IEC 23009-1, section 5.10.3.3"
            let words = "`emsg` must have all fields, and a timescale above 0"
            return [AdFinding(.error, rule: rule, path: "`emsg` number \(place)", message: words)]
        }
        return AdSignals(message, segmentStart: 0).findings.map { finding in
            var finding = finding
            finding.path = "`emsg` number \(place)"
            return finding
        }
    }

    private static func findings(inTransportStream media: [UInt8]) -> [AdFinding] {
        let types = media.withUnsafeBytes { ProgramTypes.types(in: $0) }
        guard types?.contains(spliceType) == true else { return [] }
        var reader = TransportStreamSections()
        return AdSignals(transportStreamSections: reader.read(media)).findings
    }

    private static func contains(_ text: String, _ bytes: [UInt8]) -> Bool {
        let text = Array(text.utf8)
        guard bytes.count >= text.count else { return false }
        return (0...(bytes.count - text.count)).contains { bytes[$0..<($0 + text.count)].elementsEqual(text) }
    }
}
