internal import Instrument

/// Something that AVPlayer, or the item that it plays, shows. Times are seconds of the item's timeline, as AVFoundation
/// gives them: they may be not finite.
enum AVPlayerObservation: Hashable, Sendable {
    /// The current item is another one; nil without an item.
    case item(ItemFacts?)
    /// `timeControlStatus`, with the reason where it waits.
    case timeControl(TimeControl)
    /// `rate`: the requested speed, 0 while paused.
    case rate(Double)
    /// The playhead of the current item at this instant.
    case time(Double)
    /// `AVPlayer.rateDidChangeNotification`: why the rate changed, and the rate since then.
    case rateChangeReason(RateChangeReason, rate: Double)
    /// `AVPlayerItemTimeJumped`: the playhead moved to `to`.
    case timeJumped(ItemID, to: Double)
    /// A seek is complete (AVMetrics), whether the player plays or is paused.
    case seekCompleted(ItemID)
    /// `AVPlayerItem.seekableTimeRanges` of media without an end.
    case seekableWindow(ItemID, SeekableWindow)
    /// `AVPlayerItemDidPlayToEndTime`.
    case playedToEnd(ItemID)
    /// `AVPlayerItemFailedToPlayToEndTime` with the error of its user information.
    case failedToPlayToEnd(ItemID, PlayerFailure)
    /// `AVPlayerItemPlaybackStalled`.
    case stalled(ItemID)
    /// `AVPlayerItem.status` is failed.
    case itemFailed(ItemID, PlayerFailure)
    /// `AVPlayer.status` is failed.
    case playerFailed(PlayerFailure)
    /// `AVPlayerItem.duration`; indefinite for live streams.
    case duration(ItemID, Double)
    /// `AVPlayerItem.presentationSize`.
    case presentationSize(ItemID, width: Double, height: Double)
    /// A completed switch to another variant (AVMetrics).
    case variant(ItemID, VariantFacts)
    /// The time in seconds until playback was first likely to play through without a stall (AVMetrics).
    case firstLikelyToKeepUp(ItemID, after: Double)
    /// A request for a playlist, a segment or a key has ended (AVMetrics).
    case request(ItemID, MediaRequestFacts)
    /// All entries of the access log.
    case accessLog(ItemID, [AccessLogEntry])
    /// All entries of the error log.
    case errorLog(ItemID, [PlayerFailure])
    /// `AVPlayerItem.isPlaybackLikelyToKeepUp`.
    case likelyToKeepUp(ItemID, Bool)
    /// The selected options of the audible and the legible group.
    case mediaSelection(ItemID, language: String?, subtitles: String?)
    /// `AVPlayer.volume`, 0 to 1.
    case volume(Double)
    /// `AVPlayer.isMuted`.
    case muted(Bool)
    /// `AVPlayer.isExternalPlaybackActive`: AirPlay.
    case externalPlayback(Bool)
    /// `AVPlayer.isOutputObscuredDueToInsufficientExternalProtection`: the picture is hidden for want of HDCP.
    case outputObscured(Bool)
    /// Whether `actionAtItemEnd` is `advance`, which only queue players do.
    case advancesAtEnd(Bool)
    /// The interstitial event that is presented is another one; nil while the content plays.
    case interstitialEvent(InterstitialFacts?)
    /// The person skipped the interstitial event with this identifier.
    case interstitialSkipped(String)
    /// The interstitial event with this identifier was removed from the schedule because of an error.
    case interstitialFailed(String, PlayerFailure)

    /// The item that the observation is about; nil if it is about the player.
    var subject: ItemID? {
        switch self {
        case .timeJumped(let item, _), .seekCompleted(let item), .seekableWindow(let item, _), .playedToEnd(let item),
            .failedToPlayToEnd(let item, _), .stalled(let item), .itemFailed(let item, _), .duration(let item, _),
            .presentationSize(let item, _, _), .variant(let item, _), .firstLikelyToKeepUp(let item, _),
            .request(let item, _), .accessLog(let item, _), .errorLog(let item, _), .likelyToKeepUp(let item, _),
            .mediaSelection(let item, _, _):
            item
        case .item, .timeControl, .rate, .rateChangeReason, .time, .playerFailed, .volume, .muted, .externalPlayback,
            .outputObscured, .advancesAtEnd, .interstitialEvent, .interstitialSkipped, .interstitialFailed:
            nil
        }
    }
}

/// Identifies one item of a player. An item that returns later has another number.
struct ItemID: Hashable, Sendable {
    var number: Int
}

/// An item at the moment when it becomes the current item.
struct ItemFacts: Hashable, Sendable {
    var id: ItemID
    /// The address, as the asset has it.
    var source: String?
    var title: String?
    /// The item played already when the watch began.
    var isUnderWay = false
}

/// `AVPlayer.TimeControlStatus`, with the reason where the player waits.
enum TimeControl: Hashable, Sendable {
    case paused
    case waiting(WaitingReason?)
    case playing

    var isWaiting: Bool { if case .waiting = self { true } else { false } }
}

/// `AVPlayer.WaitingReason`. The raw value is the value of the attribute `waitingReason`.
enum WaitingReason: Hashable, Sendable {
    case toMinimizeStalls
    case evaluatingBufferingRate
    case noItemToPlay
    case interstitialEvent
    /// Another participant of a coordinated playback (SharePlay) is not ready.
    case coordinatedPlayback
    /// A reason that this version does not know.
    case other(String)

    var name: String {
        switch self {
        case .toMinimizeStalls: "toMinimizeStalls"
        case .evaluatingBufferingRate: "evaluatingBufferingRate"
        case .noItemToPlay: "noItemToPlay"
        case .interstitialEvent: "interstitialEvent"
        case .coordinatedPlayback: "waitingForCoordinatedPlayback"
        case .other(let name): name
        }
    }
}

/// `AVPlayer.RateDidChangeReason`. The raw value is the value of the attribute `pauseReason`.
enum RateChangeReason: Hashable, Sendable {
    case setRateCalled
    case setRateFailed
    case audioSessionInterrupted
    case appBackgrounded
    /// A reason that this version does not know.
    case other(String)

    var name: String {
        switch self {
        case .setRateCalled: "setRateCalled"
        case .setRateFailed: "setRateFailed"
        case .audioSessionInterrupted: "audioSessionInterrupted"
        case .appBackgrounded: "appBackgrounded"
        case .other(let name): name
        }
    }
}

/// The part of media without an end that the player can seek to, in seconds of the item's timeline: what a digital
/// video recorder (DVR) would have.
struct SeekableWindow: Hashable, Sendable {
    var start: Double
    /// The live edge.
    var end: Double
    /// `automaticallyPreservesTimeOffsetFromLive`: after a wait the player jumps to where it was relative to the edge.
    var keepsOffset = false
}

/// A request that the player made. Times are in seconds.
struct MediaRequestFacts: Hashable, Sendable {
    enum Kind: String, Hashable, Sendable { case manifest, initialization, segment, key }

    var kind: Kind
    /// From the request to its last byte, or to its failure.
    var time: Double
    /// From the request to the beginning of the response; nil without a response.
    var timeToFirstByte: Double?
    /// The size of the requested byte range; nil for a whole resource, whose size AVFoundation does not tell.
    var byteCount: Int?
    var isFailed = false
}

/// An error of the player, of its item, or an entry of the error log.
struct PlayerFailure: Hashable, Sendable {
    /// An error without its words.
    struct Code: Hashable, Sendable, CustomStringConvertible {
        var domain: String
        var number: Int

        var description: String { "\(domain) \(number)" }
    }

    var domain: String
    var code: Int
    var message: String?
    /// The innermost error that caused it (`NSUnderlyingErrorKey`).
    var cause: Code?
}

/// A variant of an HLS stream, as AVFoundation reports it; nil where the playlist has no value.
struct VariantFacts: Hashable, Sendable {
    var peakBitrate: Double?
    var averageBitrate: Double?
    var framesPerSecond: Double?
}

/// An entry of the access log. A negative number is unknown; counters are those of the entry alone and can shrink.
struct AccessLogEntry: Hashable, Sendable {
    var indicatedBitrate: Double = -1
    var indicatedAverageBitrate: Double = -1
    var observedBitrate: Double = -1
    var droppedFrameCount: Int = -1
}
