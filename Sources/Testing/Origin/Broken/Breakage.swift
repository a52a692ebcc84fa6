internal import Instrument
internal import InstrumentText
internal import NIOCore

/// The response instead of a segment.
enum SegmentChange: Sendable {
    /// The segment does not exist.
    case missing
    /// Another response.
    case replaced(Resource)
}

/// How a stream is changed so that it breaks one rule.
struct Breakage: Sendable {
    /// The rule that is broken.
    var rule: String
    /// The streams that can be broken this way, such as `live/ts/master.m3u8`.
    var bases: [String]
    /// Changes a request for a document.
    var request: (@Sendable (inout BrokenRequest) -> Void)?
    /// Changes a playlist or manifest.
    var document: (@Sendable (inout ManifestText, BrokenRequest) -> Void)?
    /// Changes the response for the segment with a number; nil leaves the segment as it is.
    var segment: (@Sendable (Int, Resource, BrokenRequest, Fixtures) -> SegmentChange?)?
    /// Changes an initialization section.
    var initialization: (@Sendable ([UInt8]) -> [UInt8])?

    /// Changes any other resource: a file, a key, subtitles.
    var resource: (@Sendable (inout Resource, BrokenRequest) -> Void)?

    /// A stream that is served as it is.
    static func none(_ bases: String...) -> Breakage { Breakage(rule: "none", bases: bases) }

    /// Changes requests for documents.
    static func request(
        _ rule: String,
        _ bases: String...,
        change: @escaping @Sendable (inout BrokenRequest) -> Void
    ) -> Breakage {
        Breakage(rule: rule, bases: bases, request: change)
    }

    /// Changes playlists and manifests.
    static func document(
        _ rule: String,
        _ bases: String...,
        change: @escaping @Sendable (inout ManifestText, BrokenRequest) -> Void
    ) -> Breakage {
        Breakage(rule: rule, bases: bases, document: change)
    }

    /// Changes segments.
    static func segment(
        _ rule: String,
        _ bases: String...,
        change: @escaping @Sendable (Int, Resource, BrokenRequest, Fixtures) -> SegmentChange?
    ) -> Breakage {
        Breakage(rule: rule, bases: bases, segment: change)
    }

    /// Changes initialization sections.
    static func initialization(
        _ rule: String,
        _ bases: String...,
        change: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) -> Breakage {
        Breakage(rule: rule, bases: bases, initialization: change)
    }

    /// Changes resources that are no documents, tracks' segments or initialization sections.
    static func resource(
        _ rule: String,
        _ bases: String...,
        change: @escaping @Sendable (inout Resource, BrokenRequest) -> Void
    ) -> Breakage {
        Breakage(rule: rule, bases: bases, resource: change)
    }

    static let all: [Breakage] =
        [unbroken] + resources + playlists + ladders + manifests + segments + browsers + media
        + notices + lowLatency + frames

    static let unbroken = Breakage.none(
        "vod/ts/master.m3u8",
        "vod/ts6/master.m3u8",
        "vod/fmp4/master.m3u8",
        "vod/range/master.m3u8",
        "vod/aes/index.m3u8",
        "vod/sample-aes/index.m3u8",
        "vod/cenc/master.m3u8",
        "vod/cenc/number.mpd",
        "vod/cbcs/master.m3u8",
        "vod/cbcs/number.mpd",
        "vod/dash/number.mpd",
        "vod/dash/time.mpd",
        "vod/dash/timeline.mpd",
        "vod/dash/list.mpd",
        "vod/dash/base.mpd",
        "vod/dash/periods.mpd",
        "vod/subtitles/master.m3u8",
        "vod/subtitles/wvtt.mpd",
        "vod/subtitles/ttml.mpd",
        "live/subtitles/master.m3u8",
        "event/ts/master.m3u8",
        "event/fmp4/master.m3u8",
        "live/ts/master.m3u8",
        "live/ts6/master.m3u8",
        "live/fmp4/master.m3u8",
        "live/dash/number.mpd",
        "live/dash/timeline.mpd",
        "live/dash/patch.mpd"
    )

    /// When faults of live streams come, in milliseconds after the session's first request.
    static let onset: Int64 = 4_000
}

extension Breakage {
    static let resources: [Breakage] = [
        .document("manifest-unavailable", "vod/ts/master.m3u8") { text, request in
            text.isMissing = request.document == "v1.m3u8"
        },
        .document("content-type-wrong", "vod/ts/master.m3u8", "vod/dash/number.mpd") { text, request in
            if !request.isMaster { text.contentType = "text/html" }
        },
    ]

    /// Faults of media playlists.
    static let playlists: [Breakage] = [
        .document("playlist-malformed", "vod/ts/master.m3u8") { text, request in
            if request.document == "v1.m3u8" { text.replace("#EXTINF:2.000000", with: "#EXTINF:two") }
        },
        .document("version-too-low", "vod/ts/master.m3u8") { text, request in
            if !request.isMaster { text.change("#EXT-X-VERSION") { _ in 2 } }
        },
        .request("stale", "live/ts/master.m3u8", "live/fmp4/master.m3u8") { request in
            request.moment = request.moment.frozen
        },
        .document("target-duration-exceeded", "vod/ts/master.m3u8") { text, _ in
            text.change("#EXT-X-TARGETDURATION") { _ in 1 }
        },
        .document("target-duration-changed", "live/ts/master.m3u8") { text, request in
            if request.elapsed > onset { text.change("#EXT-X-TARGETDURATION") { $0 + 1 } }
        },
        .request("window-too-short", "live/ts/master.m3u8") { request in
            request.query = StreamQuery("window=2")
        },
        .document("media-sequence-backwards", "live/fmp4/master.m3u8") { text, request in
            if request.elapsed > onset { text.change("#EXT-X-MEDIA-SEQUENCE") { max(0, $0 - 20) } }
        },
        .document("media-sequence-jump", "live/fmp4/master.m3u8") { text, request in
            if request.elapsed > onset { text.change("#EXT-X-MEDIA-SEQUENCE") { $0 + 100 } }
        },
        .document("discontinuity-sequence-wrong", "live/ts/master.m3u8") { text, request in
            if request.elapsed > onset { text.change("#EXT-X-DISCONTINUITY-SEQUENCE") { $0 + 1 } }
        },
        .document("segment-changed", "live/ts/master.m3u8") { text, request in
            guard request.elapsed > onset, !request.isMaster else { return }
            text.lines = text.lines.map { $0.hasPrefix("#") || $0.isEmpty ? $0 : "again/" + $0 }
        },
        .document("event-segment-removed", "event/ts/master.m3u8") { text, request in
            guard request.elapsed > onset, !request.isMaster else { return }
            text.change("#EXT-X-MEDIA-SEQUENCE") { $0 + 1 }
            if let first = text.lines.firstIndex(where: { !$0.hasPrefix("#") }) {
                let start = text.lines[..<first].lastIndex { $0.hasPrefix("#EXT-X-PROGRAM-DATE-TIME") } ?? first
                text.lines.removeSubrange(start...first)
            }
        },
        .document("endlist-vanished", "vod/ts/master.m3u8") { text, request in
            if request.elapsed >= 1_000 { text.remove("#EXT-X-ENDLIST") }
        },
        .document("program-date-time-jump", "live/fmp4/master.m3u8") { text, _ in
            text.shiftDates { Int64($0 / 7) * 5_000 }
        },
        .document("program-date-time-drift", "live/fmp4/master.m3u8") { text, _ in
            text.shiftDates { Int64($0) * 80 }
        },
        .document("daterange-contradiction", "live/ts/master.m3u8") { text, _ in
            let range =
                "#EXT-X-DATERANGE:ID=\"break\",START-DATE=\"2026-01-01T00:00:10Z\",END-DATE=\"2026-01-01T00:00:00Z\""
            text.insert(range, before: "#EXTINF")
        },
        .document("key-inconsistent", "vod/aes/index.m3u8") { text, _ in
            text.insert("#EXT-X-KEY:METHOD=NONE,URI=\"key\"", before: "#EXT-X-ENDLIST")
        },
        .document("map-inconsistent", "vod/fmp4/master.m3u8") { text, _ in text.remove("#EXT-X-MAP") },
        .document("gap-listed", "vod/ts/master.m3u8") { text, request in
            guard !request.isMaster else { return }
            text.change("#EXT-X-VERSION") { _ in 8 }
            guard let place = text.lines.lastIndex(where: { $0.hasPrefix("#EXTINF") }) else { return }
            text.lines.insert("#EXT-X-GAP", at: place)
        },
    ]
}

extension Moment {
    /// The instant at which the live edge of a stale stream stops.
    var frozen: Moment {
        var moment = self
        moment.now = min(now, WallTime(milliseconds: sessionStart.milliseconds &+ Breakage.onset))
        return moment
    }
}
