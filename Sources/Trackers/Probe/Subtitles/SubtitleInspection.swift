internal import Instrument

/// The subtitles of a segment, for a caller that checks streams instead of playing them.
///
/// Takes time and memory in proportion to the segment; safe from any thread.
package struct SubtitleInspection: Sendable {
    /// The number of cues.
    package let cueCount: Int
    /// The first defect, for people; nil without one.
    package let defect: String?
    /// The time from the start of the first cue to the end of the last one of WebVTT, in nanoseconds of the media's
    /// timeline; nil for other formats, and without cues.
    package let times: Range<Int64>?
    /// The latest start of a cue of WebVTT or TTML that is no MP4, in nanoseconds of the media's timeline; nil for
    /// other formats, and without cues.
    package let latestStart: Int64?
    /// The number of cues in fragmented MP4 that are shown at no time of the segment.
    package let outsideCount: Int
    /// Whether WebVTT says how its times relate to those of the media (`X-TIMESTAMP-MAP`).
    package let hasTimestampMap: Bool

    /// Reads a segment.
    ///
    /// - Parameters:
    ///   - media: the segment.
    ///   - initialization: the initialization section; empty without one.
    ///   - hasReadableSamples: whether samples in fragmented MP4 are not encrypted.
    ///   - range: the time of the segment in nanoseconds of the media's time, with which cues in fragmented MP4 are
    ///     compared; nil if unknown.
    package init(media: [UInt8], initialization: [UInt8], hasReadableSamples: Bool, range: Range<Int64>?) {
        let content = SubtitleContent(
            media,
            initialization: initialization,
            hasReadableSamples: hasReadableSamples,
            range: range
        )
        outsideCount = content.outsideCount
        cueCount = content.cueCount
        defect = content.defect
        hasTimestampMap = content.timestampOfZero != nil
        // Without a map, time zero has the timestamp 0 (RFC 8216bis section 3.1.4).
        let zero = content.timestampOfZero ?? 0
        latestStart = content.latestStart.map { $0.saturatingAdd(zero) }
        times = content.times.map { $0.lowerBound.saturatingAdd(zero)..<$0.upperBound.saturatingAdd(zero) }
    }

    /// Whether bytes begin as WebVTT does.
    package static func isText(_ bytes: [UInt8]) -> Bool {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        return start.starts(with: "WEBVTT".utf8)
    }
}
