internal import Instrument
internal import InstrumentManifests

/// The content of a resource with subtitles: its cues, counted, and its first defect.
///
/// Reading takes time and memory in proportion to the resource.
struct SubtitleContent: Hashable, Sendable {
    /// WebVTT: cues with valid times. TTML: timed paragraphs. In fragmented MP4: samples that are not empty.
    var cueCount = 0
    /// The first defect, for people; nil without one.
    private(set) var defect: String?
    /// The time from the start of the first cue to the end of the last one of WebVTT, in nanoseconds as written; nil
    /// for other formats, and without cues.
    private(set) var times: Range<Int64>?
    /// The latest start of a cue in a file of WebVTT or TTML, in nanoseconds as written; nil for fragmented MP4, and
    /// without cues.
    private(set) var latestStart: Int64?
    /// The timestamp of the media at which WebVTT has time zero, in nanoseconds (`X-TIMESTAMP-MAP`); nil without one.
    var timestampOfZero: Int64?
    /// The number of cues that are shown at no time of the range that was given to the reader.
    private(set) var outsideCount = 0
    /// The start of the first of them, in nanoseconds of the media's time.
    private(set) var firstOutside: Int64?

    /// Compares a cue's time, in nanoseconds of the media's time, with the range of its segment. A cue at a boundary
    /// counts as inside, because times in the file and in the manifest are rounded in different ways.
    mutating func note(cueFrom start: Int64, to end: Int64, in range: Range<Int64>?) {
        let tolerance: Int64 = 10_000_000
        guard let range,
            start >= range.upperBound.saturatingAdd(tolerance) || end <= range.lowerBound.saturatingSubtract(tolerance)
        else {
            return
        }
        outsideCount += 1
        firstOutside = firstOutside ?? start
    }

    /// Takes the time of a cue into ``times``.
    mutating func note(timeFrom start: Int64, to end: Int64) {
        guard let known = times else { return times = start..<max(start, end) }
        times = min(known.lowerBound, start)..<max(known.upperBound, end)
    }

    /// Takes the start of a cue into ``latestStart``.
    mutating func note(start: Int64) { latestStart = max(latestStart ?? start, start) }

    /// Records a defect, unless an earlier one is known.
    mutating func note(_ message: @autoclosure () -> String) {
        if defect == nil { defect = message() }
    }

    /// Adds the cues outside their segment of a part of the resource.
    mutating func add(outsideOf part: SubtitleContent) {
        outsideCount += part.outsideCount
        firstOutside = firstOutside ?? part.firstOutside
    }

    init() {}

    /// Reads a resource. Its first bytes tell its format, because servers and manifests often declare another one.
    ///
    /// - Parameters:
    ///   - initialization: the initialization section; empty without one.
    ///   - hasReadableSamples: whether samples in fragmented MP4 are not encrypted.
    ///   - range: the time of the segment in nanoseconds of the media's time, with which cues in fragmented MP4 are
    ///     compared; nil if unknown.
    init(
        _ bytes: [UInt8],
        initialization: [UInt8] = [],
        hasReadableSamples: Bool = true,
        range: Range<Int64>? = nil
    ) {
        if !initialization.isEmpty || Self.isFragmented(bytes) {
            self = SubtitleFragments.read(
                bytes,
                initialization: initialization,
                hasReadableSamples: hasReadableSamples,
                range: range
            )
            return
        }
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        let content = ManifestContent(bytes)
        if [.page, .json, .compressed, .empty].contains(content) {
            note("subtitles must be WebVTT or TTML (found \(content)); check the server's answer")
            return
        }
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
