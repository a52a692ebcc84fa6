package import InstrumentProbe
package import InstrumentRules

/// What a check makes of a warning of a playback.
///
/// The list is complete by its `switch`: a new kind of a warning does not compile without a decision.
package enum WarningJudgement: Hashable {
    /// The rule finds the defect.
    case rule(Rule.ID)
    /// Each notice of a parser has a separate judgement (`NoticeJudgement`).
    case notices
    /// The warning is about one playback and its connection, not about the stream.
    case playback
}

extension StreamWarning.Kind.Known {
    /// What a check makes of warnings of this kind.
    package var judgement: WarningJudgement {
        switch self {
        case .timestampJump: .rule("discontinuity-unmarked")
        case .noKeyframe: .rule("keyframe-missing")
        case .tracksApart: .rule("tracks-apart")
        case .wrongDuration: .rule("segment-duration-mismatch")
        case .wrongBitrate: .rule("bandwidth-exceeded")
        case .wrongResolution: .rule("resolution-mismatch")
        case .unplayableMedia: .rule("browsers-refuse")
        case .missingTrack: .rule("tracks-changed")
        case .frameGap: .rule("frames-missing")
        case .missingSegment: .rule("segment-unavailable")
        case .missingSubtitles: .rule("segment-unavailable")
        case .malformedSubtitles: .rule("subtitles-malformed")
        case .subtitleTimes: .rule("subtitle-times-wrong")
        case .latePlaylist: .rule("stale")
        case .rangeIgnored: .rule("byte-range-ignored")
        case .preloadHint: .rule("preload-hint-not-kept")
        case .notSupported: .notices
        case .lateSubtitles, .expiredSegments: .playback
        case .manifestPatch: .rule("mpd-patch-wrong")
        case .steering: .rule("steering-wrong")
        case .notBegun: .rule("nothing-to-play")
        case .adSignal: .rule("ad-signal-wrong")
        }
    }
}

extension WarningJudgement {
    /// The judgements of all kinds of warnings, by the kind's name.
    package static var all: [String: WarningJudgement] {
        Dictionary(uniqueKeysWithValues: StreamWarning.Kind.Known.allCases.map { ($0.rawValue, $0.judgement) })
    }
}
