internal import Foundation
internal import Instrument
internal import InstrumentHTTP
internal import InstrumentManifests
internal import Testing

/// The calendar time of 2026-11-21T10:00:00Z, when the tests play.
let now = WallTime(milliseconds: 1_795_255_200_000)
let second: Int64 = 1_000_000_000

func instant(_ seconds: Double) -> MonotonicInstant { MonotonicInstant(nanoseconds: Int64(seconds * 1e9)) }

func address(_ text: String = "https://media.test/show/main.m3u8") throws -> HTTPURL { try HTTPURL(text) }

func mediaPlaylist(_ text: String, at url: String = "https://media.test/show/low.m3u8") throws -> HLSMediaPlaylist {
    guard case .media(let playlist) = try HLSPlaylist(parsing: Array(text.utf8), at: address(url)) else {
        throw ManifestError(.malformed, "not a media playlist")
    }
    return playlist
}

func presentation(
    _ text: String,
    at url: String = "https://media.test/show/main.m3u8",
    now wallTime: WallTime = now,
    limits: ManifestLimits = ManifestLimits()
) throws -> Presentation {
    try Presentation(parsing: Array(text.utf8), at: address(url), now: wallTime, limits: limits)
}

func manifestError(_ body: () throws -> Void) -> ManifestError? {
    do {
        try body()
        return nil
    } catch {
        return error as? ManifestError
    }
}

extension Presentation {
    func segments(_ kind: Rendition.Kind = .video, _ place: Int = 0) throws -> SegmentIndex {
        let matching = renditions.filter { $0.kind == kind }
        try #require(matching.indices.contains(place))
        guard case .segments(let index) = matching[place].source else {
            throw ManifestError(.malformed, "the segments are not known")
        }
        return index
    }
}

extension MediaSegment {
    var text: String { url.secretText }
    var seconds: Double { Double(start) / 1e9 }
}

/// A live media playlist as a server with a sliding window writes it.
func window(
    _ range: ClosedRange<Int64>,
    dated: Bool = false,
    name: (Int64) -> String = { "s\($0).ts" },
    ended: Bool = false
)
    -> String
{
    var text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:\(range.lowerBound)\n"
    for number in range {
        if dated { text += "#EXT-X-PROGRAM-DATE-TIME:\(date(number * 6_000))\n" }
        text += "#EXTINF:6.0,\n\(name(number))\n"
    }
    return text + (ended ? "#EXT-X-ENDLIST\n" : "")
}

/// ISO 8601 of a number of milliseconds after the tests' time.
func date(_ milliseconds: Int64) -> String {
    let moment = Date(timeIntervalSince1970: Double(now.milliseconds + milliseconds) / 1_000)
    return moment.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
}
