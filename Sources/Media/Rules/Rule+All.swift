extension Rule {
    /// All rules of this library: those of HLS, of DASH, and of both.
    public static let all: [Rule] = resources + notices + hls + dash + segments + [adSignalWrong]

    /// Rules on fetching and parsing, for both formats.
    static let resources = [
        manifestUnavailable, contentTypeWrong, limitExceeded, segmentUnavailable, segmentUnreadable,
        segmentUndecipherable,
        byteRangeWrong, byteRangeIgnored, contentRangeMissing, nothingToPlay, steeringWrong,
    ]

    /// Rules on HLS playlists.
    static let hls =
        [playlistMalformed, playlistAttributeInvalid, playlistLoose, startOutside, versionTooLow, stale]
        + [targetDurationExceeded, targetDurationChanged, windowTooShort]
        + [partTargetMissing, partTargetChanged, partTargetExceeded, partTooShort]
        + [partDurationsDiffer, partsKeptTooLong]
        + [holdBackTooShort, skipUntilTooShort]
        + [blockingReloadMissing, blockingReloadIgnored, deltaUpdateDiffers, preloadHintNotKept, renditionReportWrong]
        + [mediaSequenceBackwards, mediaSequenceJump, discontinuitySequenceWrong, segmentChanged, eventSegmentRemoved]
        + [endlistMissing, endlistVanished, programDateTimeJump, programDateTimeDrift, dateRangeContradiction]
        + [keyInconsistent, mapInconsistent, gapListed]
        + [
            bandwidthMissing, scoreMissing, keyframePlaylistWrong, renditionGroupDuplicate, renditionGroupMissing,
            renditionGroupMembersDiffer,
        ]
        + [variantTargetDurationDiffers, variantLags, variantDiscontinuitiesDiffer]

    /// Rules on MPDs.
    static let dash =
        [mpdMalformed, mpdAttributeMissing, mpdAttributeInvalid, mpdTypeContradicted, identifierDuplicate]
        + [segmentDurationAmbiguous]
        + [publishTimeBackwards, updatePeriodNotKept, mpdStale]
        + [timelineGap, timelineOverlap, periodBoundary]
        + [availabilityStartChanged, availabilityTimeWrong, utcTimingWrong]
        + [availabilityOffsetWrong, serviceDescriptionWrong, producerReferenceWrong, trickModeWrong, patchWrong]

    /// Rules on segments.
    static let segments = [
        segmentContentChanged, segmentDurationMismatch, segmentTimelineMismatch, discontinuityUnmarked,
        segmentTruncated, tablesMissing, tracksApart, renditionTimesDiffer, framesMissing,
        codecsMismatch, bandwidthExceeded, expiredSegmentListed, browsersRefuse, browsersDropTrack,
        tracksChanged, trackMissing, resolutionMismatch, frameRateMismatch, videoRangeMismatch,
        audioConfigurationMismatch, encodingChanged, keyframeMissing,
        renditionLengthsDiffer,
        subtitlesMalformed, subtitleTimesWrong,
    ]
}
