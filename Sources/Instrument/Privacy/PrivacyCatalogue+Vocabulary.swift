extension PrivacyCatalogue {
    /// The fields of the vocabulary and those that the queue and the services' loggers mark samples with.
    public static let vocabulary = PrivacyCatalogue(identity + state + time + picture + ads)

    private static let identity: [FieldDeclaration] = [
        FieldDeclaration(.userId, "The person, as the app names them", .userID, isLinked: true),
        FieldDeclaration(.senderId, "This run of the instrument and the tracker; new at every start", .otherUsageData),
        FieldDeclaration(.streamId, "The stream; new each time one is loaded", .otherUsageData),
        FieldDeclaration(.playbackId, "The playback; new each time", .otherUsageData),
        FieldDeclaration(.trackerTarget, "What the tracker watches"),
        FieldDeclaration(.instrumentVersion, "The version of the library that observes", .otherDiagnosticData),
        FieldDeclaration(.isAdsTracker, "Whether the tracker watches ads"),
        FieldDeclaration(.contentSenderId, "The tracker of the content that the ads interrupt", .otherUsageData),
        FieldDeclaration(.title, "The title of what is played"),
        FieldDeclaration(.source, "Where it is played from, without credentials"),
        FieldDeclaration(.language, "The language of the sound"),
        FieldDeclaration(.subtitles, "The language of the subtitles"),
    ]

    private static let state: [FieldDeclaration] = [
        FieldDeclaration(.inPlaybackBlock, "Whether something is played"),
        FieldDeclaration(.inPauseBlock, "Whether it is paused"),
        FieldDeclaration(.inSeekBlock, "Whether it is being sought in"),
        FieldDeclaration(.inBufferBlock, "Whether it waits for data", .performanceData),
        FieldDeclaration(.inAdBreakBlock, "Whether ads are shown", .advertisingData),
        FieldDeclaration(.inAdBlock, "Whether an ad is shown", .advertisingData),
        FieldDeclaration(.isMuted, "Whether the sound is off"),
        FieldDeclaration(.volume, "The volume"),
        FieldDeclaration(.countErrors, "Errors so far", .otherDiagnosticData),
        FieldDeclaration(.countStarts, "Starts so far"),
        FieldDeclaration(.countAds, "Ads so far", .advertisingData),
        FieldDeclaration(.errorDescription, "What went wrong, without secrets", .otherDiagnosticData),
        FieldDeclaration(.joinedLate, "Whether the playback was running when the tracker joined", .otherUsageData),
        FieldDeclaration(.isFatal, "Whether an error ended the playback", .otherDiagnosticData),
    ]

    private static let time: [FieldDeclaration] = [
        FieldDeclaration(.position, "The position in the content"),
        FieldDeclaration(.duration, "The length of the content"),
        FieldDeclaration(.accumPlayTime, "Time played"),
        FieldDeclaration(.deltaPlayTime, "Time played since the tracker's last event"),
        FieldDeclaration(.accumPauseTime, "Time paused"),
        FieldDeclaration(.accumSeekTime, "Time seeking", .performanceData),
        FieldDeclaration(.accumBufferTime, "Time waiting for data", .performanceData),
        timeSinceAction,
    ]

    private static let picture: [FieldDeclaration] = [
        FieldDeclaration(.resolutionWidth, "The picture's width", .performanceData),
        FieldDeclaration(.resolutionHeight, "The picture's height", .performanceData),
        FieldDeclaration(.bitrate, "The stream's bit rate", .performanceData),
        FieldDeclaration(.fps, "Frames a second", .performanceData),
    ]

    private static let ads: [FieldDeclaration] = [
        FieldDeclaration(.adId, "The ad's identifier", .advertisingData),
        FieldDeclaration(.adTitle, "The ad's title", .advertisingData),
        FieldDeclaration(.adDescription, "The ad's description", .advertisingData),
        FieldDeclaration(.adAdvertiserName, "Who advertises", .advertisingData),
        FieldDeclaration(.adCreativeId, "The creative's identifier", .advertisingData),
        FieldDeclaration(.adSystem, "The ad server", .advertisingData),
        FieldDeclaration(.adRoll, "Where in the content the break lies", .advertisingData),
        FieldDeclaration(.adPosition, "The position in the ad", .advertisingData),
        FieldDeclaration(.adDuration, "The length of the ad", .advertisingData),
        FieldDeclaration(.adBufferedTime, "How much of the ad is buffered", .performanceData),
        FieldDeclaration(.adVolume, "The ad's volume", .advertisingData),
        FieldDeclaration(.adBitrate, "The ad's bit rate", .performanceData),
        FieldDeclaration(.adResolutionWidth, "The ad's width", .performanceData),
        FieldDeclaration(.adResolutionHeight, "The ad's height", .performanceData),
    ]
}
