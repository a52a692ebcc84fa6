extension PlayerProfile {
    /// hls.js 1.7.1.
    ///
    /// src/config.ts: `maxBufferLength` 30 s or what 60 MB hold (`maxBufferSize`), at most 600 s
    /// (`maxMaxBufferLength`); `backBufferLength` infinite; `progressive` false; the load policies;
    /// `liveSyncDurationCount` 3, `liveSyncOnStallIncrease` 1 s, `maxLiveSyncPlaybackRate` 1.
    /// src/utils/error-helper.ts: delays double, `linear` ones are constant; 4xx and connections that fail lead to the
    /// next lower level at once, below the lowest one to the highest. src/controller/error-controller.ts: the failures
    /// of all levels and of audio count together, until a fragment of the level arrives. Where no level is left
    /// (src/controller/base-stream-controller.ts:2145–2187, src/controller/base-playlist-controller.ts, `checkRetry`),
    /// a live stream continues behind the fragment, and everything else is tried again, 4xx too. A playlist that cannot
    /// be loaded again is fatal. src/controller/level-controller.ts: the first estimate is the bitrate of the level
    /// that the playlist lists first, between `abrEwmaDefaultEstimate` (500 kbit/s) and `abrEwmaDefaultEstimateMax` (5
    /// Mbit/s), without a safety factor. src/controller/audio-stream-controller.ts: audio is at most one fragment ahead
    /// of the main fragment. src/controller/abr-controller.ts: only main fragments are sampled, and what arrived of an
    /// aborted one. src/controller/base-stream-controller.ts, `loadInitSegmentIfNeeded`: a fragment and its
    /// initialization section are requested at once. The first picture comes 60 ms after the first media is appended
    /// (44 to 107 ms in Chromium 156).
    ///
    /// The first sample includes the start of the transmuxer (src/controller/abr-controller.ts:532), and the next
    /// fragment waits for it: 65 ms with a web worker, from the first fragment on (measured: 54 to 72 ms on a machine
    /// with two cores, on slower ones up to 132 ms). A player that has no worker is `hlsJSWithoutWorker`.
    /// src/controller/level-controller.ts:217: no audio-only levels beside video; src/utils/rendition-helper.ts: one
    /// kind of codecs; src/controller/abr-controller.ts:934: frame rates. src/controller/abr-controller.ts:253–470:
    /// an emergency switch during a download. src/loader/fragment.ts:251: the size that the server announces.
    ///
    /// Not modelled: the time until the media source is open (hls.js 1.6.15 requests the first fragment about 0.1 s
    /// after its playlist), the transfer of a new level's playlist in the expected fetch time, media capabilities and
    /// codecs that the browser cannot play, HDR, channels, default audio and `SCORE` in the choice of codecs, levels in
    /// the order of their heights, `EXT-X-BITRATE`, error penalties of levels; that a fragment that was left for the
    /// lowest level, or whose rest takes at most twice as long as the new fragment, is loaded to its end beside the new
    /// one (line 421): the probe aborts its request.
    public static let hlsJS = hlsJS(name: "hlsjs", processing: .milliseconds(65))

    /// hls.js 1.7.1 that transmuxes on the page's own thread: its ES module (`hls.mjs`) without `workerPath`, as
    /// bundlers include it, or `enableWorker: false`.
    ///
    /// Like ``hlsJS``, except for the start of the worker (src/demux/transmuxer-interface.ts:81): the first fragment
    /// takes 15 ms (measured with hls.js 1.6.15 in Chromium), and the first picture comes earlier by the difference.
    package static let hlsJSWithoutWorker = hlsJS(name: "hlsjs-no-worker", processing: .milliseconds(15))

    /// The first picture comes 60 ms and `processing` after the last byte that it needs.
    private static func hlsJS(name: String, processing: Duration) -> PlayerProfile {
        var profile = PlayerProfile(
            name: name,
            buffer: Chromium.buffer(maximum: .seconds(30)),
            byteBudget: ByteBudget(bytes: 60_000_000, limit: .seconds(600)),
            rule: ThroughputRule.hlsJS,
            start: .firstListedBitrate(minimum: 500_000, maximum: 5_000_000),
            segmentUse: .complete,
            acceptance: .mediaSource(usesDeclaredCodecs: false, transmuxer: .hlsJS),
            decodeDelay: DecodeDelay(start: .milliseconds(60) + processing, resume: Chromium.resume),
            pacing: HLSJS.Pacing(),
            initializationLoading: .withSegment,
            sampling: DownloadSampling(includesAudio: false, includesAbandoned: true),
            // Medians on two cores with nothing else to do. A sample ends with the parsing of the segment
            // (src/controller/abr-controller.ts, `onFragBuffered`).
            processing: ProcessingTimes(
                multivariantPlaylist: .milliseconds(8),
                mediaPlaylist: .milliseconds(6),
                fragment: SegmentWork(.milliseconds(5), perMegabyte: .milliseconds(2)),
                transmuxedSegment: SegmentWork(.microseconds(4800), perMegabyte: .milliseconds(9)),
                sampled: SampledWork(
                    fragment: SegmentWork(.milliseconds(1), perMegabyte: .milliseconds(2)),
                    transmuxedSegment: SegmentWork(.microseconds(500), perMegabyte: .milliseconds(8))
                )
            ),
            firstProcessing: processing,
            ladderSelection: .hlsJS,
            retry: HLSJS.retry(6, timeouts: 4, firstByte: .seconds(10), load: .seconds(120)),
            retries: [
                .manifest: HLSJS.retry(1, timeouts: 2, firstByte: nil, load: .seconds(20)),
                .playlist: HLSJS.retry(2, timeouts: 2, firstByte: .seconds(10), load: .seconds(20)),
                .key: RetryPolicy(
                    maximumRetries: 8,
                    maximumTimeoutRetries: 1,
                    backoff: .constant(.seconds(1)),
                    firstByteTimeout: .seconds(8),
                    loadTimeout: .seconds(20),
                    statuses: .allExcept(Set(400...499)),
                    retriesConnections: false
                ),
            ],
            // src/controller/error-controller.ts, `getFragRetryOrSwitchAction` and `getLevelSwitchAction`;
            // content-steering-controller.ts: a pathway is penalized for five minutes.
            failurePlan: FailurePlan(
                [
                    .retry, .useNextLowerVariant, .useOtherLocation(excludedFor: .seconds(300)), .skipLiveSegment,
                    .retryAnyFailure,
                ],
                counting: .acrossVariants,
                failedReload: .ends
            ),
            live: LivePolicy(
                targetLatency: .targetDurations(3),
                // src/controller/latency-controller.ts, `targetLatency`: min(stallCount × liveSyncOnStallIncrease,
                // targetduration).
                targetIncreaseOnStall: .duration(.seconds(1)),
                maximumTargetIncrease: .targetDurations(1),
                changeAtEdge: .loadsAgain,
                reloadRhythm: .fromDueTime,
                // src/config.ts, `lowLatencyMode`. src/loader/m3u8-parser.ts reads preload hints; nothing requests
                // them.
                usesParts: true
            )
        ).asking(for: .browser)
        // src/controller/buffer-controller.ts:843–882, `blockAudio`.
        profile.buffer.sound.followsPictures = true
        // src/controller/audio-track-controller.ts, `onLevelLoading`: the group of audio and its playlist.
        profile.requestsPlaylistsTogether = true
        return profile
    }
}

extension LadderSelection {
    /// hls.js 1.7: src/controller/level-controller.ts:217–223; src/utils/rendition-helper.ts, `getStartCodecTier`;
    /// src/controller/abr-controller.ts:932, which never leaves the codecs of the first level.
    package static let hlsJS = LadderSelection(
        excludesAudioOnly: true,
        codecs: .mostEfficient(minimum: 500_000, maximum: 5_000_000)
    )
}

/// How hls.js decides.
enum HLSJS {
    static func retry(_ errors: Int, timeouts: Int, firstByte: Duration?, load: Duration) -> RetryPolicy {
        RetryPolicy(
            maximumRetries: errors,
            maximumTimeoutRetries: timeouts,
            backoff: .exponential(first: .seconds(1), factor: 2, maximum: .seconds(8), jitter: 0),
            timeoutBackoff: .constant(.zero),
            firstByteTimeout: firstByte,
            loadTimeout: load,
            statuses: .allExcept(Set(400...499)),
            retriesConnections: false
        )
    }

    /// The next audio segment begins no later than the video segment ends that is being fetched. Where none is, the
    /// last one has been buffered, and audio has no limit: src/controller/audio-stream-controller.ts,
    /// `mainFragLoading`.
    struct Pacing: TrackPacing {
        /// Line 1071, `initPTS`.
        var liveAudioAwaitsPictures: Bool { true }

        /// src/controller/audio-stream-controller.ts: `onInitPtsFound` leaves audio that waits to the next tick
        /// (`TICK_INTERVAL`); src/controller/buffer-controller.ts creates the buffers of both at once. The time to
        /// append was measured: 6 to 11 ms.
        var firstAudioLook: FirstAudioLook? { FirstAudioLook(interval: .milliseconds(100), append: .milliseconds(10)) }

        func permits(_ request: PacedRequest) -> Bool {
            guard request.isOfAudio, request.isOtherLoading else { return true }
            return request.track.loadedEnd <= max(request.other.loadedEnd, request.other.plannedEnd ?? 0)
        }
    }
}
