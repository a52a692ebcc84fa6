internal import Instrument

extension PlayerProfile {
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
    /// rules of `HybridRule.dashJS`. Its catch-up is off unless the MPD asks for it.
    /// src/dash/utils/BaseURLSelector.js: after the last retry, the next `BaseURL`; without one, nothing more is
    /// loaded. src/streaming/ManifestUpdater.js:284: an MPD that cannot be loaded again is not asked for any more; the
    /// segments that the last one gives are played. src/streaming/controllers/PlaybackController.js:573: behind the
    /// live window, playback continues at its start.
    ///
    /// In low latency, segments play by chunks, no buffered media is replaced, the next segment is looked for at once,
    /// the rate follows the latency, and a low buffer limits no rung
    /// (src/streaming/rules/abr/InsufficientBufferRule.js).
    ///
    /// Not modelled: dropped frames, the rules L2A and LoL+, the shorter retries in low latency, the time of appending,
    /// the adaptation of audio, the Resource Timing of samples (the first bytes of a response count here), samples from
    /// the cache, the choice between adaptation sets, and which media is shown where a replacement comes too late.
    public static let dashJS = PlayerProfile(
        name: "dashjs",
        buffer: Chromium.buffer(maximum: .seconds(18)),
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
        // The playhead moves 43 ms after the arrival of the first segment (dash.js's log); the page's `playing` comes
        // 54 to 149 ms after it, where browsers start side by side.
        decodeDelay: DecodeDelay(start: .milliseconds(45), resume: Chromium.resume),
        pacing: DashJS.Pacing(lead: .seconds(1)),
        // src/core/Settings.js: `cacheInitSegments` is off.
        initializationLoading: .ofEachRendition,
        sampling: DownloadSampling(includesAudio: false, includesAbandoned: true),
        // Medians on two cores with nothing else to do.
        processing: ProcessingTimes(
            presentation: .milliseconds(35),
            initialization: .milliseconds(4),
            fragment: SegmentWork(.milliseconds(4), perMegabyte: .milliseconds(2)),
            transmuxedSegment: SegmentWork(.milliseconds(4), perMegabyte: .milliseconds(2))
        ),
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
    ).asking(for: .browser).changing(
        // src/streaming/models/MediaPlayerModel.js, `getFastSwitchEnabled`, `getScheduleTimeout`,
        // `getCatchupPlaybackRates`; src/streaming/controllers/ScheduleController.js, `_shouldBuffer`.
        inLowLatency: LowLatencyMode(
            segmentUse: .progressive,
            catchUp: .sigmoid(minimum: 0.5, maximum: 1.5, minimumBuffer: .zero)
        )
    )
}

/// How dash.js decides.
enum DashJS {
    /// Audio has less than `lead` more than video, or less than one segment:
    /// src/streaming/controllers/ScheduleController.js.
    struct Pacing: TrackPacing {
        var lead: Duration

        func permits(_ request: PacedRequest) -> Bool {
            let level = max(0, request.track.loadedEnd.saturatingSubtract(request.position))
            return !request.isOfAudio || request.lead < lead.nanoseconds || level < request.track.nextDuration
        }
    }
}
