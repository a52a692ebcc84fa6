/// The content of a resource with subtitles: its cues, counted, and its first defect.
///
/// Reading takes time and memory in proportion to the resource.
struct SubtitleContent: Hashable, Sendable {
    /// WebVTT: cues with valid times. TTML: timed paragraphs. In fragmented MP4: samples that are not empty.
    var cueCount = 0
    /// The first defect, for people; nil without one.
    private(set) var defect: String?

    /// Records a defect, unless an earlier one is known.
    mutating func note(_ message: @autoclosure () -> String) {
        if defect == nil { defect = message() }
    }

    init() {}

    /// Reads a resource. Its first bytes tell its format, because servers and manifests often declare another one.
    ///
    /// - Parameters:
    ///   - initialization: the initialization section; empty without one.
    ///   - hasReadableSamples: whether samples in fragmented MP4 are not encrypted.
    init(_ bytes: [UInt8], initialization: [UInt8] = [], hasReadableSamples: Bool = true) {
        if !initialization.isEmpty || Self.isFragmented(bytes) {
            self = SubtitleFragments.read(
                bytes,
                initialization: initialization,
                hasReadableSamples: hasReadableSamples
            )
            return
        }
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        let first = start.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        self = first == UInt8(ascii: "<") ? TimedTextReader.read(bytes) : WebVTTReader.read(start)
    }

    private static func isFragmented(_ bytes: [UInt8]) -> Bool {
        let types: [BoxType] = ["ftyp", "styp", "moov", "moof", "sidx", "emsg", "prft"]
        return bytes.withUnsafeBytes { bytes in
            Box(bytes, at: 0).map { types.contains($0.type) } ?? false
        }
    }
}
