internal import Instrument

extension PlayerProfile {
    /// Media3's ExoPlayer 1.6.
    ///
    /// `DefaultLoadControl` (buffer, no back buffer), `DefaultBandwidthMeter.DEFAULT_INITIAL_BITRATE_ESTIMATE` (the
    /// estimates by country and network are not modelled), `DefaultLoadErrorHandlingPolicy` (six statuses exclude a
    /// track for 60 s; else retries after 0, 1, 2, 3, 4, 5, 5, … s, of which three are made in any case and more while
    /// media is buffered: `Loader.maybeThrowError` counts when a renderer is not ready), `DefaultHttpDataSource` (8 s
    /// to connect and for each read; not verified), `DefaultHlsPlaylistTracker` (3.5 target durations without a
    /// change). DASH has 30 s of latency instead (`DashMediaSource.DEFAULT_FALLBACK_TARGET_LIVE_OFFSET_MS`), HLS three
    /// target durations. `DefaultLivePlaybackSpeedControl`, which `HlsMediaSource.updateLiveConfiguration` and
    /// `DashMediaSource.updateLiveConfiguration` turn off in streams that ask for no rate; where it is on, half of the
    /// target latency is enough media to start with (`DefaultLoadControl.shouldStartPlayback`). A segment that has left
    /// the live window is fatal (`BehindLiveWindowException`).
    ///
    /// Audio that is fetched apart: `CompositeSequenceableLoader.continueLoading` lets the track load whose next
    /// position is the earlier one; `DefaultBandwidthMeter` measures both together; `AdaptiveTrackSelection` gives
    /// video what the audio leaves of the bandwidth. `HlsMediaPeriod.java:599–640`: no variants without a picture
    /// beside those with one. Downloads are not aborted.
    ///
    /// Not modelled: that a seek in a live stream makes its position the target, estimates by country and network,
    /// priorities of tracks, limits of the buffer in bytes, the decoder; that the playlist that is listed first is
    /// loaded before the chosen one (`DefaultHlsPlaylistTracker.java:304`), and that media beyond 25 s is thrown away
    /// after a rise (`AdaptiveTrackSelection.evaluateQueueSize`).
    public static let exoPlayer = PlayerProfile(
        name: "exoplayer",
        buffer: .exoPlayer,
        backBuffer: .zero,
        rule: ThroughputRule.exoPlayer,
        start: .estimate(1_000_000),
        segmentUse: .progressive,
        pacing: ExoPlayer.Pacing(),
        sampling: ExoPlayer.Sampling(),
        ladderIncludesAudio: true,
        ladderSelection: LadderSelection(excludesAudioOnly: true),
        retry: RetryPolicy(
            maximumRetries: 3,
            backoff: .linearFromZero(step: .seconds(1), maximum: .seconds(5)),
            firstByteTimeout: .seconds(8),
            stallTimeout: .seconds(8),
            continuesWhileBuffered: true
        ),
        // DefaultLoadErrorHandlingPolicy: a location is excluded for five minutes, a track for one.
        failurePlan: FailurePlan(
            [
                .useOtherLocation(excludedFor: .seconds(300), after: .statuses(ExoPlayer.fallbacks)),
                .useOtherVariant(excludedFor: .seconds(60), after: .statuses(ExoPlayer.fallbacks)),
                .retry,
            ],
            failedReload: .keepsTrying(after: .seconds(5))
        ),
        live: LivePolicy(
            targetLatency: .targetDurations(3),
            targetLatencyOfDASH: .duration(.seconds(30)),
            targetIncreaseOnStall: .duration(.milliseconds(500)),
            catchUp: .proportional(factor: 0.1, minimum: 0.97, maximum: 1.03, tolerance: .milliseconds(20)),
            // ExoPlayerImplInternal: `ACTIVE_INTERVAL_MS` of its loop.
            movingTarget: LivePolicy.MovingTarget(
                interval: .seconds(1),
                step: .milliseconds(10),
                smoothing: 0.999,
                sufficientShare: 0.5
            ),
            catchUpNeedsDeclaration: true,
            behindWindow: .ends,
            staleAfter: .targetDurations(3.5),
            usesParts: true,
            // HlsPlaylistParser: only hints of parts, and only ranges with an end.
            preloadedHints: [.part]
        )
    ).asking(for: .gzip)
}

/// How ExoPlayer decides.
enum ExoPlayer {
    /// `DefaultLoadErrorHandlingPolicy.isEligibleForFallback`.
    static let fallbacks: Set<Int> = [403, 404, 410, 416, 500, 503]

    /// The next segment of a track begins no later than the segment ends that the other track loads, or loaded last:
    /// `CompositeSequenceableLoader.continueLoading`.
    struct Pacing: TrackPacing {
        var audioReleasesVideo: Bool { true }

        func permits(_ request: PacedRequest) -> Bool {
            // The other track's next position is the end of the segment that it loads.
            let next = (request.isOtherLoading ? request.other.plannedEnd : nil) ?? request.other.timeNeeded
            return request.track.timeNeeded <= max(next, request.position)
        }
    }

    /// The downloads of all tracks are measured together (`DefaultBandwidthMeter`): from each end of a download to the
    /// next one, the bytes of all that are under way, over the time in which any of them was.
    struct Sampling: ThroughputSampling {
        private var meter = LinkMeter()

        var comparesDownloads: Bool { true }

        mutating func samples(of download: SampledDownload) -> [ThroughputSample] {
            guard download.state == .complete else { return [] }
            return meter.sample(endOf: download.transfer, beside: download.others).map { [$0] } ?? []
        }

        mutating func forgetDownloads() { meter = LinkMeter() }
    }
}
