extension Rule {
    /// All rules of this library: those of HLS, of DASH, and of both.
    public static let all: [Rule] = resources + hls + dash + segments

    /// Rules on fetching and parsing, for both formats.
    static let resources = [
        manifestUnavailable, contentTypeWrong, segmentUnavailable, segmentUnreadable, segmentUndecipherable,
        byteRangeWrong, byteRangeIgnored, nothingToPlay,
    ]

    /// Rules on HLS playlists.
    static let hls =
        [playlistMalformed, versionTooLow, stale]
        + [targetDurationExceeded, targetDurationChanged, windowTooShort]
        + [mediaSequenceBackwards, mediaSequenceJump, discontinuitySequenceWrong, segmentChanged, eventSegmentRemoved]
        + [endlistVanished, programDateTimeJump, programDateTimeDrift, dateRangeContradiction]
        + [keyInconsistent, mapInconsistent, gapListed]
        + [bandwidthMissing, renditionGroupDuplicate, renditionGroupMissing, renditionGroupMembersDiffer]
        + [variantTargetDurationDiffers, variantLags, variantDiscontinuitiesDiffer]

    /// Rules on MPDs.
    static let dash =
        [mpdMalformed, mpdAttributeMissing, publishTimeBackwards, updatePeriodNotKept, mpdStale]
        + [timelineGap, timelineOverlap, periodBoundary]
        + [availabilityStartChanged, availabilityTimeWrong, utcTimingWrong]

    /// Rules on segments.
    static let segments = [
        segmentContentChanged, segmentDurationMismatch, segmentTimelineMismatch, discontinuityUnmarked,
        codecsMismatch, bandwidthExceeded, expiredSegmentListed, browsersRefuse, browsersDropTrack,
        tracksChanged, trackMissing, resolutionMismatch, keyframeMissing, renditionLengthsDiffer,
        subtitlesMalformed, subtitleTimesWrong,
    ]
}
