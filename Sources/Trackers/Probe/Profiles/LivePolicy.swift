internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The behaviour of a player in live streams.
package struct LivePolicy: Hashable, Sendable {
    /// A distance from the live edge.
    package enum Distance: Hashable, Sendable {
        /// A fixed time.
        case duration(Duration)
        /// A number of target durations (HLS) or maximum segment durations (DASH).
        case targetDurations(Double)
        /// A number of `@minBufferTime`s (DASH); zero where the stream declares none.
        case minimumBuffers(Double)

        /// The distance as a time.
        ///
        /// - Parameters:
        ///   - targetDuration: the target duration or maximum segment duration.
        ///   - minimumBuffer: `@minBufferTime`; zero if the stream declares none.
        package func duration(targetDuration: Duration, minimumBuffer: Duration = .zero) -> Duration {
            switch self {
            case .duration(let duration): max(duration, .zero)
            case .targetDurations(let count): Duration(clampingSeconds: targetDuration.seconds * count)
            case .minimumBuffers(let count): Duration(clampingSeconds: minimumBuffer.seconds * count)
            }
        }
    }

    /// The live edge of DASH, from which the target latency counts at the start.
    package enum EdgeOfDASH: Hashable, Sendable {
        /// The time of day, as `@suggestedPresentationDelay` and `Latency@target` count (ISO/IEC 23009-1 section
        /// 5.3.1.2, annex K).
        case timeOfDay
        /// The end of the newest listed segment; without a list, the time of day less the longest segment, and later by
        /// as much as segments are available before they are complete.
        case newestSegment
    }

    /// What `Latency@target` of a `ServiceDescription` counts from (DASH).
    package enum ServiceTarget: Hashable, Sendable {
        /// The time of day: it is the target latency, also at the start.
        case timeOfDay
        /// The position where playback would start now, which comes from `@suggestedPresentationDelay` alone: only the
        /// playback rate follows it.
        case startPosition
    }

    /// How the playback rate follows the latency.
    package enum CatchUp: Hashable, Sendable {
        /// Always the normal rate.
        case none
        /// 1 + `factor` × (latency − target in seconds), brought between `minimum` and `maximum`; 1 if the difference
        /// is at most `tolerance`.
        case proportional(factor: Double, minimum: Double, maximum: Double, tolerance: Duration)
        /// `minimum` or `maximum` as long as the difference exceeds `tolerance`. Shaka Player.
        case fixed(minimum: Double, maximum: Double, tolerance: Duration)
        /// 1 − r + 2 r ÷ (1 + e^(−5 × difference in seconds)), r = `maximum` − 1 when behind and 1 − `minimum` when
        /// ahead; not above 1 with less than `minimumBuffer`. dash.js, `CatchupController`, its default mode.
        case sigmoid(minimum: Double, maximum: Double, minimumBuffer: Duration)
    }

    /// A target latency that moves with what the buffer allows, and how often the player looks. The rate of
    /// `CatchUp.proportional` follows it. Media3, `DefaultLivePlaybackSpeedControl`.
    package struct MovingTarget: Hashable, Sendable {
        /// The time between two changes of the target and the rate.
        package var interval: Duration
        /// The time of the player's loop, in which it looks at its buffer.
        package var step: Duration
        /// The share that the old value keeps in each of these steps.
        package var smoothing: Double
        /// The share of the target that is enough media to start or to continue with.
        package var sufficientShare: Double

        /// Creates a description.
        package init(interval: Duration, step: Duration, smoothing: Double, sufficientShare: Double) {
            (self.interval, self.step) = (max(interval, .zero), max(step, .milliseconds(1)))
            (self.smoothing, self.sufficientShare) = (smoothing, sufficientShare)
        }
    }

    /// What a player does when the media behind the end of its buffer has left the live window, once the buffer has
    /// been played.
    package enum BehindWindow: Hashable, Sendable {
        /// Continues at the target latency.
        case jumpsToTarget
        /// Continues this time behind the start of the window, and at the target latency at most.
        case jumpsToStart(offset: Duration)
        /// Ends with an error.
        case ends
    }

    /// What a player does when its rung changes at the live edge.
    package enum ChangeAtEdge: Hashable, Sendable {
        /// Finishes the segment whose parts it loads, and waits for what the new playlist lists behind the buffer.
        case waits
        /// Changes also where it waits for the next part, loads the new playlist, and begins where decoding can begin,
        /// at or before the end of the buffer; if the playlist lists nothing behind that, with its newest segment or
        /// part. The media in the buffer is replaced. Parts that follow at once are loaded to their ends. hls.js
        /// (src/controller/base-stream-controller.ts, `waitForLive`, `getFragmentAtPosition` and `doFragPartsLoad`).
        case loadsAgain
    }

    /// What the time until the next reload of a media playlist counts from.
    package enum ReloadRhythm: Hashable, Sendable {
        /// The last request (RFC 8216 section 6.3.4).
        case fromRequest
        /// The instant at which the last request was due; a request that comes a whole period later is followed by
        /// another one at once. hls.js (src/controller/base-playlist-controller.ts, `requestScheduled`).
        case fromDueTime
    }

    /// What a low-latency playlist may hint at before it lists it (`EXT-X-PRELOAD-HINT`).
    package enum HintedResource: Hashable, Sendable, CaseIterable {
        /// The next part (`TYPE=PART`).
        case part
        /// The initialization section that the next parts need (`TYPE=MAP`).
        case initialization
    }

    /// The target latency, at which playback starts, unless the stream declares one (`HOLD-BACK`, `START`,
    /// `suggestedPresentationDelay`, `ServiceDescription`).
    package var targetLatency: Distance
    /// The target latency of DASH streams that declare none; nil for ``targetLatency``.
    package var targetLatencyOfDASH: Distance?
    /// The live edge of DASH, from which the target latency counts at the start.
    package var edgeOfDASH: EdgeOfDASH
    /// What `Latency@target` of a `ServiceDescription` counts from.
    package var serviceTarget: ServiceTarget
    /// Whether the stream's own latency overrides ``targetLatency``.
    package var followsStream: Bool
    /// The latency above which the player jumps to the target latency; nil never jumps.
    package var maximumLatency: Distance?
    /// The time that each stall adds to the target latency, for the rest of the playback.
    package var targetIncreaseOnStall: Distance
    /// The limit of the sum that stalls add to the target latency; nil sets no limit.
    package var maximumTargetIncrease: Distance?
    /// How the playback rate follows the latency.
    package var catchUp: CatchUp
    /// How the target latency moves while playback follows it; nil for a target that only stalls raise.
    package var movingTarget: MovingTarget?
    /// Whether the rate stays 1, and stalls leave the target latency as it is, in streams that do not ask for a rate:
    /// HLS without `HOLD-BACK` and `PART-HOLD-BACK`, DASH without a target latency or rates in its
    /// `ServiceDescription`.
    package var catchUpNeedsDeclaration: Bool
    /// How long the player waits before it looks again for a segment that does not exist yet, and chooses its rendition
    /// again: the shortest of these distances; empty for as soon as the segment exists, as in all low-latency streams.
    package var searchIntervals: [Distance]
    /// What follows a change of rung at the live edge.
    package var changeAtEdge: ChangeAtEdge
    /// What the time until the next reload of a media playlist counts from.
    package var reloadRhythm: ReloadRhythm
    /// What follows when the next segment has left the live window.
    package var behindWindow: BehindWindow
    /// The time without a change after which a playlist is stale, which ends playback with an error; nil keeps
    /// reloading.
    package var staleAfter: Distance?
    /// Whether the player fetches the parts of low-latency HLS, holds requests for playlists, and asks for delta
    /// updates; else it plays whole segments.
    package var usesParts: Bool
    /// What the player requests as soon as a playlist hints at it, so that a part costs no round trip after the
    /// playlist that lists it; empty for none, and without effect if the player does not use parts.
    ///
    /// Hints whose byte range has no end are never requested.
    package var preloadedHints: Set<HintedResource>
    /// Whether the player loads the changes of a live MPD where the MPD offers patches (`PatchLocation`), and the whole
    /// MPD only if a patch cannot be used.
    package var usesPatches: Bool

    /// Creates a policy.
    package init(
        targetLatency: Distance,
        targetLatencyOfDASH: Distance? = nil,
        edgeOfDASH: EdgeOfDASH = .timeOfDay,
        serviceTarget: ServiceTarget = .timeOfDay,
        followsStream: Bool = true,
        maximumLatency: Distance? = nil,
        targetIncreaseOnStall: Distance = .duration(.zero),
        maximumTargetIncrease: Distance? = nil,
        catchUp: CatchUp = .none,
        movingTarget: MovingTarget? = nil,
        catchUpNeedsDeclaration: Bool = false,
        searchIntervals: [Distance] = [],
        changeAtEdge: ChangeAtEdge = .waits,
        reloadRhythm: ReloadRhythm = .fromRequest,
        behindWindow: BehindWindow = .jumpsToTarget,
        staleAfter: Distance? = nil,
        usesParts: Bool = false,
        preloadedHints: Set<HintedResource> = [],
        usesPatches: Bool = false
    ) {
        self.targetLatency = targetLatency
        self.targetLatencyOfDASH = targetLatencyOfDASH
        self.edgeOfDASH = edgeOfDASH
        self.serviceTarget = serviceTarget
        self.followsStream = followsStream
        self.maximumLatency = maximumLatency
        self.targetIncreaseOnStall = targetIncreaseOnStall
        self.maximumTargetIncrease = maximumTargetIncrease
        self.catchUp = catchUp
        self.movingTarget = movingTarget
        self.catchUpNeedsDeclaration = catchUpNeedsDeclaration
        self.searchIntervals = searchIntervals
        self.changeAtEdge = changeAtEdge
        self.reloadRhythm = reloadRhythm
        self.behindWindow = behindWindow
        self.staleAfter = staleAfter
        self.usesParts = usesParts
        self.preloadedHints = preloadedHints
        self.usesPatches = usesPatches
    }
}

extension LivePolicy {
    /// The time until the player looks again for a segment that does not exist yet; zero if it need not look.
    func searchInterval(targetDuration: Duration) -> Duration {
        searchIntervals.map { $0.duration(targetDuration: targetDuration) }.filter { $0 > .zero }.min() ?? .zero
    }

    /// The rate to play at; 1 is the normal one.
    ///
    /// - Parameters:
    ///   - latency: from the live edge to the playhead.
    ///   - target: the target latency.
    ///   - bufferLevel: the media ahead of the playhead.
    package func playbackRate(latency: Duration, target: Duration, bufferLevel: Duration) -> Double {
        let difference = latency.seconds - target.seconds
        switch catchUp {
        case .none: return 1
        case .proportional(let factor, let minimum, let maximum, let tolerance):
            if abs(difference) <= tolerance.seconds { return 1 }
            return Self.limited(1 + factor * difference, minimum, maximum)
        case .fixed(let minimum, let maximum, let tolerance):
            if difference > tolerance.seconds { return Self.limited(maximum, minimum, maximum) }
            return difference < -tolerance.seconds ? Self.limited(minimum, minimum, maximum) : 1
        case .sigmoid(let minimum, let maximum, let minimumBuffer):
            if bufferLevel < minimumBuffer, difference > 0 { return 1 }
            let range = difference > 0 ? maximum - 1 : 1 - minimum
            return Self.limited(1 - range + 2 * range / (1 + exp(-5 * difference)), minimum, maximum)
        }
    }

    private static func limited(_ rate: Double, _ minimum: Double, _ maximum: Double) -> Double {
        guard rate.isFinite, minimum.isFinite, maximum.isFinite else { return 1 }
        return max(max(0.01, minimum), min(rate, max(minimum, maximum)))
    }
}
