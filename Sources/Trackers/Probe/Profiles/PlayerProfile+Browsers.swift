extension PlayerProfile {
    /// The media element decides when a browser starts and continues (`HAVE_FUTURE_DATA`, HTML standard, section
    /// 4.8.11). The level is not published in seconds: as soon as anything is there.
    private static func browserBuffer(maximum: Duration) -> BufferPolicy {
        BufferPolicy(startThreshold: .zero, resumeThreshold: .zero, maximum: maximum)
    }

    /// Chromium 156 continues 30 to 60 ms after the append that ends a stall (measured).
    private static let chromiumResume = Duration.milliseconds(45)

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
    /// initialization section are requested at once. The first picture comes 204 ms after the last byte that it needs
    /// (measured in Chromium 156; 237 ms with transport streams).
    ///
    /// The first sample includes the start of the transmuxer (src/controller/abr-controller.ts:532), and the next
    /// fragment waits for it: about 100 ms with a web worker, which is inferred from trials (of the 185 ms by which the
    /// first picture comes later than that of players without a transmuxer) and not measured alone. A player that has
    /// no worker is `hlsJSWithoutWorker`.
    /// src/controller/level-controller.ts:217: no audio-only levels beside video; src/utils/rendition-helper.ts: one
    /// kind of codecs; src/controller/abr-controller.ts:934: frame rates. src/controller/abr-controller.ts:253–470:
    /// an emergency switch during a download. src/loader/fragment.ts:251: the size that the server announces.
    ///
    /// Not modelled: the time until the media source is open (hls.js 1.6.15 requests the first fragment about 0.1 s
    /// after its playlist), the time of transmuxing after the first fragment, the playlist of a new level in the
    /// expected fetch time, media capabilities and codecs that the browser cannot play, HDR, channels, default audio
    /// and `SCORE` in the choice of codecs, levels in the order of their heights, `EXT-X-BITRATE`, error penalties of
    /// levels; and that a fragment that was left for the lowest level, or whose rest takes at most twice as long as the
    /// new fragment, is loaded to its end beside the new one (line 421): the probe aborts its request.
    public static let hlsJS = hlsJS(name: "hlsjs", processing: .milliseconds(100))

    /// hls.js 1.7.1 that transmuxes on the page's own thread: its ES module (`hls.mjs`) without `workerPath`, as
    /// bundlers include it, or `enableWorker: false`.
    ///
    /// Like ``hlsJS``, except for the start of the worker (src/demux/transmuxer-interface.ts:81): the first fragment
    /// takes 15 ms (measured with hls.js 1.6.15 in Chromium), and the first picture comes earlier by the difference.
    package static let hlsJSWithoutWorker = hlsJS(name: "hlsjs-no-worker", processing: .milliseconds(15))

    /// The first picture comes 104 ms (transport streams: 137 ms) and `processing` after the last byte that it needs.
    private static func hlsJS(name: String, processing: Duration) -> PlayerProfile {
        PlayerProfile(
            name: name,
            buffer: browserBuffer(maximum: .seconds(30)),
            byteBudget: ByteBudget(bytes: 60_000_000, limit: .seconds(600)),
            rule: ThroughputRule.hlsJS,
            start: .firstListedBitrate(minimum: 500_000, maximum: 5_000_000),
            segmentUse: .complete,
            acceptance: .mediaSource(usesDeclaredCodecs: false, transmuxer: .hlsJS),
            decodeDelay: DecodeDelay(
                start: .milliseconds(104) + processing,
                transmuxedStart: .milliseconds(137) + processing,
                resume: chromiumResume
            ),
            audioLead: .videoSegment,
            initializationLoading: .withSegment,
            sampling: ThroughputSampling(
                includesAudio: false,
                includesAbandoned: true,
                firstProcessing: processing
            ),
            ladderSelection: .hlsJS,
            retry: hlsJSRetry(6, timeouts: 4, firstByte: .seconds(10), load: .seconds(120)),
            retries: [
                .manifest: hlsJSRetry(1, timeouts: 2, firstByte: nil, load: .seconds(20)),
                .playlist: hlsJSRetry(2, timeouts: 2, firstByte: .seconds(10), load: .seconds(20)),
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
                // src/config.ts, `lowLatencyMode`. src/loader/m3u8-parser.ts reads preload hints; nothing requests
                // them.
                usesParts: true
            )
        ).asking(for: .browser)
    }

    private static func hlsJSRetry(_ errors: Int, timeouts: Int, firstByte: Duration?, load: Duration) -> RetryPolicy {
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

    /// dash.js 5.1.1.
    ///
    /// src/core/Settings.js: `bufferTimeDefault` 18 s, at the top quality `bufferTimeAtTopQuality` 30 s, from 600 s of
    /// media `bufferTimeAtTopQualityLongForm` 60 s; `bufferToKeep` 20 s, `retryAttempts` 3 after 500 ms (MPD) and 1000
    /// ms, `fragmentRequestTimeout` 20 s, `manifestRequestTimeout` 10 s. src/streaming/controllers/AbrController.js:
    /// `DEFAULT_VIDEO_BITRATE` 1000 kbit/s, to which no safety factor applies.
    /// src/streaming/controllers/ScheduleController.js: audio has at most a second more than video, or one fragment; a
    /// video segment has to fit below the maximum, which is looked at every 500 ms (`scheduling.defaultTimeout`).
    /// src/streaming/StreamProcessor.js, `_prepareForFastQualitySwitch`: a higher quality replaces lower ones from the
    /// playhead on (1.5 × `fragmentDuration`, which is null in a representation that was not played yet).
    /// src/streaming/models/ThroughputModel.js: an average per media type.
    /// src/streaming/controllers/PlaybackController.js:449: four fragments behind the live edge where the MPD declares
    /// no delay. src/streaming/net/XHRLoader.js:91: an aborted request is a sample, too. src/streaming/rules/abr: the
    /// rules of ``HybridRule/dashJS``. Its catch-up is off unless the MPD asks for it.
    /// src/dash/utils/BaseURLSelector.js: after the last retry, the next `BaseURL`; without one, nothing more is
    /// loaded. src/streaming/ManifestUpdater.js:284: an MPD that cannot be loaded again is not asked for any more; the
    /// segments that the last one gives are played. src/streaming/controllers/PlaybackController.js:573: behind the
    /// live window, playback continues at its start.
    ///
    /// Not modelled: dropped frames, the low-latency mode and its rules, the time of appending, the adaptation of
    /// audio, the Resource Timing of samples (the first bytes of a response count here), samples from the cache, the
    /// choice between adaptation sets, and which media is shown where a replacing segment comes too late.
    public static let dashJS = PlayerProfile(
        name: "dashjs",
        buffer: browserBuffer(maximum: .seconds(18)),
        topRungBuffer: TopRungBuffer(
            maximum: .seconds(30),
            longMaximum: .seconds(60),
            longDuration: .seconds(600)
        ),
        bufferCheck: BufferCheck(
            countsNextSegment: true,
            interval: .milliseconds(500),
            leadInterval: .milliseconds(500)
        ),
        replacementDistance: 0,
        backBuffer: .seconds(20),
        rule: HybridRule.dashJS,
        start: .estimate(1_000_000),
        segmentUse: .complete,
        acceptance: .mediaSource(usesDeclaredCodecs: true, transmuxer: nil),
        decodeDelay: DecodeDelay(start: .milliseconds(19), resume: chromiumResume),
        audioLead: .duration(.seconds(1)),
        sampling: ThroughputSampling(includesAudio: false, includesAbandoned: true),
        retry: RetryPolicy(maximumRetries: 3, backoff: .constant(.seconds(1)), loadTimeout: .seconds(20)),
        retries: [
            .manifest: RetryPolicy(
                maximumRetries: 3,
                backoff: .constant(.milliseconds(500)),
                loadTimeout: .seconds(10)
            )
        ],
        // src/streaming/utils/BlacklistController.js: a service location stays excluded.
        failurePlan: FailurePlan([.retry, .useOtherLocation(excludedFor: nil)], failedReload: .stopsReloading),
        // src/streaming/ManifestUpdater.js, `refreshManifest`: a patch first, the whole MPD if the patch is invalid.
        live: LivePolicy(
            targetLatency: .targetDurations(4),
            // src/streaming/StreamProcessor.js, `_noValidRequest`: `scheduling.defaultTimeout`.
            searchIntervals: [.duration(.milliseconds(500))],
            behindWindow: .jumpsToStart(offset: .zero),
            usesPatches: true
        )
    ).asking(for: .browser)

    /// lib/net/http_fetch_plugin.js:201, `minBytesForProgressEvents`; lib/net/networking_engine.js:563: timeouts count
    /// from these events.
    private static let progressOfShaka = ThroughputSampling.Parts(time: .milliseconds(100), bytes: 16_000)

    /// Shaka Player 5.2.0 in Chromium.
    ///
    /// lib/util/player_configuration.js: `rebufferingGoal` 0 (the media element decides), `bufferingGoal` 10 s,
    /// `bufferBehind` 30 s, `maxDisabledTime` 30 s; `liveSegmentsDelay` 3 segments in HLS (line 159).
    /// lib/abr/simple_abr_manager.js:545: the first estimate is the connection's `downlink` (`useNetworkInformation`),
    /// until 128 kB are sampled. Chromium gives 1,450 kbit/s before it has observed anything: its default for Ethernet
    /// is 1,456 (net/nqe/network_quality_estimator_params.cc), which the browser rounds to 25 kbit/s. Browsers without
    /// the property (Firefox, Safari) start with `defaultBandwidthEstimate`, 1 Mbit/s. lib/media/streaming_engine.js: a
    /// full buffer is looked at every 0.5 s (line 1666), and a stream that is a segment ahead of the others every
    /// second (line 1768); each segment and its initialization segment are requested at once (`segmentPrefetchLimit` 1,
    /// line 1771). lib/net/http_fetch_plugin.js:201: a sample for each 100 ms and 16 kB of a download, none below 5 ms
    /// (`cacheLoadThreshold`). lib/hls/hls_parser.js:2892 and 5200: the parser reads a segment of the video for its
    /// captions, before there is anything that measures. The bitrate of a variant is that of video and audio. Its
    /// tutorial "Network and Buffering Configuration": `retryParameters`, one retry of two attempts after 1 s ± 50 %,
    /// timeouts of 30, 10 (to connect) and 5 s (stall); lib/net/http_plugin_utils.js:49: whatever the status.
    /// lib/media/streaming_engine.js:3230: then another variant, or other audio of the same language
    /// (lib/player.js:8954), except after a timeout, and after another back-off of 1 s ± 50 %
    /// (`failureCallbackBackoff_`); lib/player.js:7806: a live stream without one begins again, 0.1 s after that
    /// back-off (here without its ± 50 %). A playlist or an MPD is asked for again until it comes
    /// (lib/hls/hls_parser.js:5449). lib/media/playhead.js:650: behind the live window, playback continues 5 s after
    /// its start (`safeSeekOffset`).
    ///
    /// Not modelled: `lowLatencyMode` (on by default: in a low-latency stream, media is appended in chunks, two
    /// segments are prefetched, and the engine looks every 0.1 s), a downlink that Chromium has learnt from other
    /// traffic, the sizes of initialization segments, the time of appending, changes of the element's size, dropped
    /// frames, and the choice between codecs (lib/util/stream_utils.js:42): all codecs and audio-only variants of a
    /// playlist are in one ladder.
    public static let shaka = PlayerProfile(
        name: "shaka",
        buffer: browserBuffer(maximum: .seconds(10)),
        bufferCheck: BufferCheck(interval: .milliseconds(500), leadInterval: .seconds(1)),
        // lib/media/streaming_engine.js:1917, `inaccurateManifestTolerance`.
        lookupTolerance: .seconds(2),
        backBuffer: .seconds(30),
        rule: ThroughputRule.shaka,
        start: .estimate(1_450_000),
        segmentUse: .complete,
        acceptance: .mediaSource(usesDeclaredCodecs: true, transmuxer: .shaka),
        decodeDelay: DecodeDelay(start: .milliseconds(19), resume: chromiumResume),
        audioLead: .segmentApart,
        initializationLoading: .withSegment,
        inspectsCaptions: true,
        sampling: ThroughputSampling(
            includesAbandoned: true,
            parts: progressOfShaka,
            cacheTime: .milliseconds(5)
        ),
        ladderIncludesAudio: true,
        retry: RetryPolicy(
            maximumRetries: 1,
            backoff: .exponential(first: .seconds(1), factor: 2, maximum: .seconds(60), jitter: 0.5),
            firstByteTimeout: .seconds(10),
            loadTimeout: .seconds(30),
            stallTimeout: .seconds(5),
            progress: progressOfShaka
        ),
        // lib/net/networking_engine.js takes the next address at each retry; here the retries come first.
        failurePlan: FailurePlan(
            [
                .retry, .useOtherLocation(excludedFor: nil),
                .useOtherVariant(excludedFor: .seconds(30), after: .exceptTimeouts),
                .useOtherAudio(excludedFor: .seconds(30), after: .exceptTimeouts),
                .restartLive(after: .milliseconds(1100)),
            ],
            changeDelay: .exponential(first: .seconds(1), factor: 1, maximum: .seconds(1), jitter: 0.5),
            failedReload: .keepsTrying(after: .milliseconds(100)),
            reloadsUseAlternatives: false
        ),
        // lib/dash/dash_parser.js, `requestManifest_`: a patch first, the whole MPD after an invalid one.
        // lib/dash/dash_parser.js:785: min(1.5 × minBufferTime, the window) where the MPD suggests no delay.
        live: LivePolicy(
            targetLatency: .targetDurations(3),
            targetLatencyOfDASH: .minimumBuffers(1.5),
            // lib/media/presentation_timeline.js:740.
            edgeOfDASH: .newestSegment,
            // lib/media/streaming_engine.js:1707: half of the last segment, `updateIntervalSeconds` at most.
            searchIntervals: [.duration(.seconds(1)), .targetDurations(0.5)],
            behindWindow: .jumpsToStart(offset: .seconds(5)),
            usesPatches: true
        )
    ).asking(for: .browser)
}
