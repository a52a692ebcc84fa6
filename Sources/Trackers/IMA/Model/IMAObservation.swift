internal import Instrument

/// Something that the IMA SDK reports.
enum IMAObservation: Hashable, Sendable {
    /// An event of the ads manager, with the ad where the event has one.
    case event(IMAEvent, AdFacts?)
    /// An error of the ads manager: the SDK plays no more ads of this manager.
    case error(IMAFailure)
    /// The app shall pause the content: a break begins.
    case contentPauseRequest
    /// The app shall resume the content: the break is over.
    case contentResumeRequest
    /// The ad moved on.
    case progress
    /// The ad waits for data.
    case bufferingStart
    /// The ad has enough data to play on.
    case playbackReady
}

/// `IMAAdEventType`, as far as an ad tracker needs it.
enum IMAEvent: Hashable, Sendable, CaseIterable {
    case loaded, started, firstQuartile, midpoint, thirdQuartile, complete, skipped, paused, resumed, tapped, clicked
    case breakStarted, breakEnded, breakFetchError, allAdsCompleted, other
}

/// An ad as the SDK describes it: empty texts and numbers of zero or less are unknown.
struct AdFacts: Hashable, Sendable {
    var id = ""
    var title = ""
    var description = ""
    var system = ""
    var advertiserName = ""
    var creativeID = ""
    /// Seconds.
    var duration = 0.0
    /// kbit/s, as VAST says it.
    var vastBitrate = 0
    var vastWidth = 0
    var vastHeight = 0
    /// The place of the ad's pod: 0 before the content, -1 after it.
    var podIndex: Int?
}

/// `IMAAdPlaybackInfo` and the volume; seconds, and 0 to 1.
struct AdPlayback: Hashable, Sendable {
    var currentTime = 0.0
    var totalTime = 0.0
    var bufferedTime = 0.0
    var volume: Double?
}

/// `IMAAdError`.
struct IMAFailure: Hashable, Sendable {
    var code: Int
    var type: String
    var message: String?
}
