import Instrument
import InstrumentManifests
import InstrumentTransport

@testable import InstrumentProbe

/// Inputs for the values of the streaming engine, without a network, a clock or media files.
enum Loading {
    static let base = "http://origin.example/"

    static func url(_ path: String) throws -> HTTPURL { try HTTPURL(base + path) }

    /// `seconds` on the monotonic clock; the calendar shows the same.
    static func at(_ seconds: Double) -> Timestamp {
        Timestamp(instant: instant(seconds), wallTime: WallTime(milliseconds: Int64(seconds * 1000)))
    }

    static func instant(_ seconds: Double) -> MonotonicInstant { MonotonicInstant(nanoseconds: Int64(seconds * 1e9)) }

    static func nanoseconds(_ seconds: Double) -> Int64 { Int64(seconds * 1e9) }

    /// A ladder of variants with these bitrates; audio is a separate rendition if `languages` are given.
    static func multivariant(_ bitrates: [Int], languages: [String] = []) throws -> Presentation {
        var text = "#EXTM3U\n"
        for language in languages {
            text += "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"\(language)\",LANGUAGE=\"\(language)\","
            text += "URI=\"audio-\(language).m3u8\"\n"
        }
        for bitrate in bitrates {
            text += "#EXT-X-STREAM-INF:BANDWIDTH=\(bitrate)\(languages.isEmpty ? "" : ",AUDIO=\"a\"")\n"
            text += "v\(bitrate).m3u8\n"
        }
        return try Presentation(parsing: Array(text.utf8), at: url("master.m3u8"), now: WallTime(milliseconds: 0))
    }

    /// A media playlist of segments that last two seconds.
    static func media(
        _ numbers: Range<Int>,
        isComplete: Bool = true,
        gaps: Set<Int> = []
    ) throws -> HLSPlaylist {
        var text = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:\(numbers.lowerBound)\n"
        for number in numbers {
            text += "#EXTINF:2,\n\(gaps.contains(number) ? "#EXT-X-GAP\n" : "")s\(number).ts\n"
        }
        if isComplete { text += "#EXT-X-ENDLIST\n" }
        return try HLSPlaylist(parsing: Array(text.utf8), at: url("media.m3u8"))
    }

    /// A manifest value whose first variant has a media playlist.
    static func manifest(
        _ numbers: Range<Int> = 0..<6,
        bitrates: [Int] = [400_000, 800_000],
        isComplete: Bool = true,
        gaps: Set<Int> = [],
        at seconds: Double = 0
    ) throws -> (ManifestLoading, Rendition.ID) {
        var manifest = ManifestLoading(source, staleAfter: .targetDurations(3.5))
        let presentation = try multivariant(bitrates)
        _ = try manifest.take(presentation, begun: instant(seconds))
        let id = presentation.variants[0].main
        let playlist = try media(numbers, isComplete: isComplete, gaps: gaps)
        _ = try manifest.take(playlist, of: id, at: url("v.m3u8"), isNumberedAlike: true, begun: instant(seconds))
        return (manifest, id)
    }

    static let source = MediaSource(base + "master.m3u8")

    /// A model of one or two tracks that plays since second 0 and has media until `end`.
    static func model(_ tracks: Set<PlaybackModel.Track> = [.video, .audio], until end: Double) -> PlaybackModel {
        let policy = BufferPolicy(startThreshold: .zero, resumeThreshold: .zero, maximum: .seconds(30))
        var model = PlaybackModel(tracks: tracks, policy: policy, canLag: false, now: instant(0))
        for track in tracks { model.append(track, end: nanoseconds(end), now: instant(0)) }
        return model
    }

    /// The content of a segment whose timestamps begin at `start` seconds and last two seconds.
    static func content(_ kinds: Set<PlaybackModel.Track>, from start: Double) -> SegmentContent {
        var content = SegmentContent(streams: kinds, size: 1000)
        for kind in kinds {
            content[kind] = TrackContent(
                start: nanoseconds(start),
                end: nanoseconds(start + 2),
                points: [
                    TrackContent.Point(offset: 400, end: nanoseconds(start + 1)),
                    TrackContent.Point(offset: 1000, end: nanoseconds(start + 2)),
                ],
                frameCount: 50,
                firstKeyframe: nanoseconds(start),
                startsWithKeyframe: true,
                largestGap: 0,
                codec: "h264"
            )
        }
        return content
    }

    /// A thousand bytes, of which `first` arrive at one instant and the rest at another.
    static func arrivals(first: Int = 600, at begin: Double, rest end: Double) -> ArrivalLog {
        var log = ArrivalLog()
        log.add(first, at: instant(begin))
        log.add(1000 - first, at: instant(end))
        return log
    }
}
