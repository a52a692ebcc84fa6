/// Subtitles in fragmented MP4 (ISO/IEC 14496-30): the initialization section of a track, and its segments.
enum SubtitleFragment: String, Sendable, CaseIterable {
    /// WebVTT: a sample for each cue, and an empty one between two cues.
    case webVTT = "wvtt"
    /// TTML (IMSC 1.1, text profile): a document for each segment.
    case timedText = "stpp"

    /// Ticks of a second.
    static let timescale = 1_000

    /// The value for `codecs` (RFC 6381; W3C TTML profile registry).
    var codecs: String { self == .webVTT ? "wvtt" : "stpp.ttml.im1t" }

    /// The initialization section.
    var initialization: [UInt8] {
        let isText = self == .webVTT
        let handler = Self.full(
            "hdlr",
            Self.words(0),
            Array((isText ? "text" : "subt").utf8),
            [UInt8](repeating: 0, count: 13)
        )
        let header = Self.full(isText ? "nmhd" : "sthd", [])
        let references = Self.box("dinf", Self.full("dref", Self.words(1), Self.box("url ", [0, 0, 0, 1])))
        let tables =
            Self.full("stsd", Self.words(1), sampleEntry) + Self.full("stts", Self.words(0))
            + Self.full("stsc", Self.words(0)) + Self.full("stsz", Self.words(0, 0)) + Self.full("stco", Self.words(0))
        let information = Self.box("minf", header, references, Self.box("stbl", tables))
        // The language is undetermined: three letters of five bits.
        let media = Self.full("mdhd", Self.words(0, 0, Self.timescale, 0), [0x55, 0xC4, 0, 0])
        let matrix = Self.words(0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000)
        let track = Self.full("tkhd", flags: 3, Self.words(0, 0, 1, 0, 0, 0, 0, 0, 0), matrix, Self.words(0, 0))
        let times = Self.words(0, 0, Self.timescale, 0, 0x1_0000, 0x100_0000, 0, 0)
        let movie = Self.full("mvhd", times, matrix, Self.words(0, 0, 0, 0, 0, 0, 2))
        let extends = Self.box("mvex", Self.full("trex", Self.words(1, 1, 0, 0, 0)))
        return Self.box("ftyp", Array("iso6".utf8), Self.words(0), Array("iso6dash".utf8))
            + Self.box("moov", movie, Self.box("trak", track, Self.box("mdia", media, handler, information)), extends)
    }

    private var sampleEntry: [UInt8] {
        let common: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 1]
        switch self {
        case .webVTT: return Self.box("wvtt", common, Self.box("vttC", Array("WEBVTT".utf8)))
        case .timedText: return Self.box("stpp", common, Array("http://www.w3.org/ns/ttml".utf8), [0, 0, 0])
        }
    }

    /// The segment with the cues of these seconds, one cue each.
    func segment(_ track: SubtitleTrack, _ seconds: Range<Int>) -> [UInt8] {
        let samples: [(bytes: [UInt8], duration: Int)]
        switch self {
        case .webVTT:
            samples = seconds.flatMap { second in
                let cue = Self.box("vttc", Self.box("payl", Array("\(second) s".utf8)))
                return [(cue, 900), (Self.box("vtte"), 100)]
            }
        case .timedText:
            samples = [(Array(track.text(.timedText, seconds).utf8), seconds.count * Self.timescale)]
        }
        let rows = samples.flatMap { Self.words($0.duration, $0.bytes.count) }
        func fragment(dataAt offset: Int) -> [UInt8] {
            let start = Self.full("tfdt", Self.words(seconds.lowerBound * Self.timescale))
            // The offset of the data, durations and sizes.
            let run = Self.full("trun", flags: 0x301, Self.words(samples.count, offset), rows)
            let header = Self.full("tfhd", flags: 0x2_0000, Self.words(1))
            return Self.box("moof", Self.full("mfhd", Self.words(1)), Self.box("traf", header, start, run))
        }
        let size = fragment(dataAt: 0).count
        return fragment(dataAt: size + 8) + Self.box("mdat", samples.flatMap(\.bytes))
    }

    // MARK: Boxes
    private static func words(_ values: Int...) -> [UInt8] {
        values.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
    }

    private static func box(_ type: String, _ content: [UInt8]...) -> [UInt8] {
        let content = content.flatMap(\.self)
        return words(content.count + 8) + Array(type.utf8) + content
    }

    private static func full(_ type: String, flags: Int = 0, _ content: [UInt8]...) -> [UInt8] {
        box(type, words(flags), content.flatMap(\.self))
    }
}
