internal import Instrument
internal import InstrumentHTTP
internal import InstrumentManifests
internal import InstrumentRules

/// When something was requested last, and answered.
struct RequestTimes: Sendable {
    var begun: MonotonicInstant
    /// Nil before the answer.
    var answered: MonotonicInstant?

    /// The interval between two reloads is never outside these limits, in nanoseconds.
    private static let intervals: ClosedRange<Int64> = 500_000_000...30_000_000_000

    /// When the next request is due: an interval, in nanoseconds, after the beginning of this one (RFC 8216bis section
    /// 6.3.4), and not immediately after a slow answer. Nil before the answer.
    func due(after interval: Int64) -> MonotonicInstant? {
        guard let answered else { return nil }
        let limits = Self.intervals
        let rest = Duration.nanoseconds(min(max(interval, limits.lowerBound), limits.upperBound))
        return max(begun.advanced(by: rest), answered.advanced(by: .nanoseconds(limits.lowerBound)))
    }
}

/// A rendition under check: where its playlist is, and which segments were fetched.
struct CheckedRendition: Sendable {
    let name: String
    let kind: Rendition.Kind
    /// The address of the media playlist; nil where the root has the segments.
    var playlistURL: HTTPURL?
    var plan = SegmentPlan()
    /// How often the playlist was requested since it is not live: a playlist that ended is requested once more, to see
    /// whether it stays ended.
    private(set) var attempts = 0
    /// When the playlist was requested last, and answered; nil if it came with the root.
    private(set) var times: RequestTimes?
    /// The segments of a DASH rendition, or of the latest playlist.
    var segments = SegmentIndex([], isComplete: true, targetDuration: 0)
    var isLive = false
    var targetDuration: Int64 = 0
    /// Whether the rendition lists keyframes alone, for fast forward and rewind.
    var isKeyframeOnly = false
    /// Whether the segments are known: a playlist or an index was read.
    var isListed = false

    /// Whether a reload can show anything new.
    var needsReload: Bool { playlistURL != nil && (isLive || attempts < 2) }

    /// Counts a request for the playlist, which begins now, or which came with the root.
    mutating func noteRequest(at now: MonotonicInstant? = nil) {
        attempts += 1
        times = now.map { RequestTimes(begun: $0) }
    }

    /// Notes that the latest request was answered.
    mutating func noteAnswer(at now: MonotonicInstant) { times?.answered = now }

    mutating func update(_ playlist: HLSMediaPlaylist) {
        if playlist.hasEnded, isLive { attempts = 1 }
        isLive = !playlist.hasEnded
        (isListed, isKeyframeOnly) = (true, isKeyframeOnly || playlist.isIFramesOnly)
        targetDuration = playlist.targetDuration
        segments = SegmentIndex(playlist.segments, isComplete: playlist.hasEnded, targetDuration: targetDuration)
    }
}

extension Presentation {
    /// The renditions in the order in which they are checked: pictures, sound, subtitles.
    func checkedRenditions(rootURL: HTTPURL) -> [CheckedRendition] {
        let rank: (Rendition) -> Int = { rendition in
            switch rendition.kind {
            case .video, .muxed: 0
            case .audio: 1
            case .subtitles: 2
            }
        }
        let ordered = renditions.enumerated().sorted { (rank($0.1), $0.0) < (rank($1.1), $1.0) }.map(\.element)
        return ordered.map { rendition in
            var checked = CheckedRendition(name: rendition.id.description, kind: rendition.kind)
            switch rendition.source {
            case .playlist(let url): checked.playlistURL = url
            case .loaded(let playlist):
                checked.playlistURL = rootURL
                checked.noteRequest()
                checked.update(playlist)
            case .segments(let index): checked.take(index, isLive: live != nil)
            case .parts: break
            }
            return checked
        }
    }
}

extension MultivariantVersion {
    /// The playlists of keyframes (`EXT-X-I-FRAME-STREAM-INF`), each once.
    var keyframeRenditions: [CheckedRendition] {
        keyframePlaylists.map { playlist in
            var checked = CheckedRendition(name: playlist.name, kind: .video)
            (checked.playlistURL, checked.isKeyframeOnly) = (playlist.url, true)
            return checked
        }
    }
}

extension CheckedRendition {
    /// The rendition, as one of keyframes alone.
    var asKeyframes: CheckedRendition {
        var rendition = self
        rendition.isKeyframeOnly = true
        return rendition
    }

    /// The role of a segment of the rendition.
    var role: SegmentOrder.Role {
        if isKeyframeOnly { return .keyframes }
        switch kind {
        case .video, .muxed: return .media
        case .audio: return .audio
        case .subtitles: return .subtitles
        }
    }

    mutating func take(_ index: SegmentIndex, isLive: Bool) {
        isListed = true
        segments = index
        targetDuration = index.targetDuration
        self.isLive = isLive
    }
}
