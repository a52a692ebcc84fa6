package import Instrument

/// How a session began.
public struct Startup: Hashable, Sendable {
    /// The instant at which the person asked for the media; nil without a `MediaRequest`.
    package internal(set) var requested: MonotonicInstant?
    /// The instant at which the stream was loaded; nil without a `StreamLoad`.
    package internal(set) var loaded: MonotonicInstant?
    /// The instant at which the first frame was shown; nil if the media never started, or if the start was not
    /// observed.
    package internal(set) var started: MonotonicInstant?
    /// Whether playback has started, observed or not.
    public internal(set) var hasStarted = false
    /// Milliseconds of ads between the request (else the load) and the first frame.
    public internal(set) var prerollTime = 0
    /// Whether the person paused before the start.
    public internal(set) var wasPaused = false
    /// Whether the person sought before the start.
    public internal(set) var wasSought = false
    /// Whether the app went to the background, or the machine slept, between the request and the start.
    public internal(set) var wasInBackground = false
    /// Milliseconds in the state `rebuffering` of a wait for data that began before the start: the rest of the initial
    /// buffering.
    package internal(set) var initialRebufferTime = 0
    /// Whether the tracker began to watch when playback had begun already, so that the start time is unknown.
    public internal(set) var joinedLate = false
    /// Whether joining was left for a state that makes ExoPlayer's join time invalid.
    package internal(set) var isJoinInvalid = false
    /// Whether the player was ever ready: playing, paused or ended.
    package internal(set) var hasBeenReady = false

    /// When waiting began: the request, else the load.
    package var begin: MonotonicInstant? { requested ?? loaded }

    /// Milliseconds from the request (else the load) to the first frame, ads included; nil if the media never started.
    public var elapsed: Int? {
        guard let begin, let started, !joinedLate else { return nil }
        return begin.milliseconds(to: started)
    }
}

/// Stalls, seeks and pauses of a session.
public struct Interruptions: Hashable, Sendable {
    /// Waits for data that kept the session in the state `rebuffering` for a millisecond or longer, finished or not. A
    /// wait that a pause or an ad interrupts is one; a seek ends it.
    public internal(set) var rebufferCount = 0
    /// Whether the viewer left while the session was `rebuffering`.
    public internal(set) var isExitDuringRebuffer = false
    /// Stalls that reached the state `rebuffering`, whether they finished or not.
    public internal(set) var stallCount = 0
    /// Entries into `rebuffering` or `pausedBuffering` from another state, as ExoPlayer counts.
    package internal(set) var bufferingCount = 0
    /// The longest visit of `rebuffering`, in milliseconds.
    public internal(set) var longestStall = 0
    /// Seeks begun.
    public internal(set) var seekCount = 0
    /// Pauses begun, without those of the content for an ad.
    public internal(set) var pauseCount = 0
    /// Ads begun.
    public internal(set) var adCount = 0
}

/// Errors of a session.
public struct Failures: Hashable, Sendable {
    /// All errors.
    public internal(set) var errorCount = 0
    /// Errors before the start.
    package internal(set) var startErrorCount = 0
    /// A fatal error before the start that the person's own action did not cause.
    public internal(set) var isStartFailure = false
    /// A fatal error after the start.
    public internal(set) var isPlaybackFailure = false
    /// A fatal error before the start that the person's own action caused, for example by closing the page.
    public internal(set) var isCausedByUser = false

    /// Whether a fatal error ended the session.
    public var hasFatalError: Bool { isStartFailure || isPlaybackFailure || isCausedByUser }
}

/// The sums of the eight core metrics, by the core's rules: ad breaks and the state before the start do not matter to
/// them.
package struct CoreSums: Hashable, Sendable {
    /// `StartTime`, in milliseconds.
    package internal(set) var startTime: Int?
    /// `NumPlays`.
    package internal(set) var plays = 0
    /// `RebufferTime`, in milliseconds.
    package internal(set) var rebufferTime = 0
    /// `NumRebuffers`.
    package internal(set) var rebuffers = 0
    /// `PlayTime`, in milliseconds.
    package internal(set) var playTime = 0
    /// `NumRequests`.
    package internal(set) var requests = 0
    /// `NumLoads`.
    package internal(set) var loads = 0
    /// `NumEnds`.
    package internal(set) var ends = 0
}

/// The shown quality: bitrates, renditions, rates, latency. All sums cover the time in the state `playing`.
public struct PictureSums: Hashable, Sendable {
    /// Media time with a known bitrate, in thousandths of a millisecond.
    package internal(set) var bitrateTime = 0
    /// Bitrate times that media time.
    package internal(set) var bitrateProduct: Int128 = 0
    /// The highest bitrate that was played; nil if no bitrate is known.
    public internal(set) var peakBitrate: Int?
    /// The latest size of the picture, in pixels.
    package internal(set) var size: Size?
    /// The latest size of the area that shows the picture, in physical pixels.
    package internal(set) var display: Size?
    /// Rises of the rendered quality after the start.
    public internal(set) var switchesUp = 0
    /// Falls of the rendered quality after the start.
    public internal(set) var switchesDown = 0
    /// Milliseconds of playing for each rendition: `WIDTHxHEIGHT`, else the bitrate. Beyond `renditionLimit`
    /// renditions: `other`.
    public var renditions: [String: Int] { renditionTimes.byName }
    var renditionTimes = RenditionTimes(limit: renditionLimit)
    /// Milliseconds of playing at a rate above 1.
    package internal(set) var fastTime = 0
    /// Milliseconds of playing at a rate below 1.
    package internal(set) var slowTime = 0
    /// The first latency after the start, in milliseconds.
    package internal(set) var firstLatency: Int?
    /// The latest latency, in milliseconds.
    package internal(set) var lastLatency: Int?
    /// Latencies in milliseconds, each weighted by the milliseconds of playing for which it held.
    public internal(set) var latency = Distribution()
    /// Milliseconds of playing with known sizes of picture and display.
    package internal(set) var scaledTime = 0
    /// Upscaling in millionths times that time.
    package internal(set) var upscalingProduct: Int128 = 0
    /// The greatest upscaling, in millionths.
    package internal(set) var largestUpscaling = 0

    /// A width and a height.
    package struct Size: Hashable, Sendable {
        /// The width.
        package var width: Int
        /// The height.
        package var height: Int
    }

    /// The mean bitrate, weighted by media time and rounded down; nil if no bitrate is known.
    public var averageBitrate: Int? {
        bitrateTime > 0 ? Int(clamping: bitrateProduct / Int128(bitrateTime)) : nil
    }

    /// The mean and the greatest upscaling as fractions: 0.5 if the picture is enlarged by half. Nil if a size is
    /// unknown.
    public var upscaling: (average: Double, largest: Double)? {
        guard scaledTime > 0 else { return nil }
        return (Double(upscalingProduct) / Double(scaledTime) / 1e6, Double(largestUpscaling) / 1e6)
    }

    /// The number of renditions that are listed by name.
    package static let renditionLimit = 64
}

/// Requests of a session and their results.
public struct NetworkQuality: Hashable, Sendable {
    /// Bit/s of each request for media.
    public internal(set) var throughput = Distribution()
    /// Milliseconds to the first byte of each request.
    public internal(set) var timeToFirstByte = Distribution()
    /// Requests made.
    public internal(set) var requests = 0
    /// Requests that failed.
    public internal(set) var errors = 0
    /// Bytes of requests that were reported one by one.
    public internal(set) var bytes = 0
    /// Milliseconds of requests that were reported one by one.
    public internal(set) var activeTime = 0
    /// Milliseconds of media in the buffer, each level weighted by the milliseconds for which it held.
    public internal(set) var bufferLevel = Distribution()
}

/// The recorded events of a session in order, for dialects that list events; bounded.
package struct SessionTrace: Hashable, Sendable {
    /// A change of rendition.
    package struct Switch: Hashable, Sendable {
        /// The instant at which the new rendition was shown.
        package var instant: MonotonicInstant
        /// The position in the media, in milliseconds; nil if unknown.
        package var position: Int?
        /// The new rendition: `WIDTHxHEIGHT`, else the bitrate.
        package var rendition: String
        /// The new bitrate; nil if unknown.
        package var bitrate: Int?
    }
    /// A buffer level.
    package struct Level: Hashable, Sendable {
        /// The instant at which the level was measured.
        package var instant: MonotonicInstant
        /// Milliseconds of media ahead of the playhead.
        package var level: Int
    }

    /// Changes of rendition, the first rendition included.
    package internal(set) var switches: [Switch] = []
    /// Buffer levels.
    package internal(set) var levels: [Level] = []
    /// Positions at which the intervals of the session begin, in milliseconds; nil where unknown. As many as intervals.
    package internal(set) var positions: [Int?] = []
    /// Whether the limit was reached, so that later entries are missing.
    package internal(set) var isTruncated = false
}
