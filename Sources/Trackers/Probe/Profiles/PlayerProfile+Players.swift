extension PlayerProfile {
    /// All named profiles.
    public static let named: [PlayerProfile] = [
        .standard, .exoPlayer, .avPlayer, .hlsJS, .hlsJSWithoutWorker, .dashJS, .shaka, .mpv,
    ]

    /// The profile of a name, as `--profile` takes it; nil for an unknown name.
    public init?(named name: String) {
        guard let profile = Self.named.first(where: { $0.name == name }) else { return nil }
        self = profile
    }

    /// Ours, where no player is imitated: what most players have in common.
    public static let standard = PlayerProfile(
        name: "standard",
        buffer: .standard,
        // As in ExoPlayer: every seek back fetches.
        backBuffer: .zero,
        rule: HybridRule(),
        start: .estimate(1_000_000),
        segmentUse: .progressive,
        retry: RetryPolicy(
            maximumRetries: 3,
            backoff: .exponential(first: .seconds(1), factor: 2, maximum: .seconds(8), jitter: 0.25),
            firstByteTimeout: .seconds(10),
            loadTimeout: .seconds(60),
            stallTimeout: .seconds(10),
            // RFC 9110, section 15, has these as passing; 404 may be in live streams, whose segments come late.
            statuses: .only([404, 408, 425, 429, 500, 502, 503, 504])
        ),
        failurePlan: FailurePlan([
            .retry, .useOtherLocation(excludedFor: .seconds(60)), .useOtherVariant(excludedFor: .seconds(60)),
            .useOtherAudio(excludedFor: .seconds(60)),
        ]),
        live: LivePolicy(
            // RFC 8216, section 6.3.3: not closer to the end than three target durations.
            targetLatency: .targetDurations(3),
            maximumLatency: .targetDurations(10),
            catchUp: .proportional(factor: 0.1, minimum: 0.97, maximum: 1.03, tolerance: .milliseconds(100)),
            staleAfter: .targetDurations(3.5),
            usesParts: true,
            preloadedHints: [.part, .initialization],
            usesPatches: true
        )
    )

    /// Media3's ExoPlayer 1.6.
    ///
    /// `DefaultLoadControl` (buffer, no back buffer), `DefaultBandwidthMeter.DEFAULT_INITIAL_BITRATE_ESTIMATE` (the
    /// estimates by country and network are not modelled), `DefaultLoadErrorHandlingPolicy` (six statuses exclude a
    /// track for 60 s; else retries after 0, 1, 2, 3, 4, 5, 5, … s, of which three are made in any case and more while
    /// media is buffered: `Loader.maybeThrowError` counts when a renderer is not ready), `DefaultHttpDataSource` (8 s
    /// to connect and for each read; not verified), `DefaultHlsPlaylistTracker` (3.5 target durations without a
    /// change). DASH has 30 s of latency instead (`DashMediaSource.DEFAULT_FALLBACK_TARGET_LIVE_OFFSET_MS`), HLS three
    /// target durations. `DefaultLivePlaybackSpeedControl`, which `HlsMediaSource.updateLiveConfiguration` and
    /// `DashMediaSource.updateLiveConfiguration` turn off in streams that ask for no rate. A segment that has left the
    /// live window is fatal (`BehindLiveWindowException`).
    ///
    /// Audio that is fetched apart: `CompositeSequenceableLoader.continueLoading` lets the track load whose next
    /// position is the earlier one; `DefaultBandwidthMeter` measures both together; `AdaptiveTrackSelection` gives
    /// video what the audio leaves of the bandwidth. `HlsMediaPeriod.java:599–640`: no variants without a picture
    /// beside those with one. Downloads are not aborted.
    ///
    /// Not modelled: estimates by country and network, priorities of tracks, limits of the buffer in bytes, the
    /// decoder; that the playlist that is listed first is loaded before the chosen one
    /// (`DefaultHlsPlaylistTracker.java:304`), and that media beyond 25 s is thrown away after a rise
    /// (`AdaptiveTrackSelection.evaluateQueueSize`).
    public static let exoPlayer = PlayerProfile(
        name: "exoplayer",
        buffer: .exoPlayer,
        backBuffer: .zero,
        rule: ThroughputRule.exoPlayer,
        start: .estimate(1_000_000),
        segmentUse: .progressive,
        audioLead: .chunkApart,
        sampling: ThroughputSampling(aggregatesTransfers: true),
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
                .useOtherLocation(excludedFor: .seconds(300), after: .statuses(exoPlayerFallbacks)),
                .useOtherVariant(excludedFor: .seconds(60), after: .statuses(exoPlayerFallbacks)),
                .retry,
            ],
            failedReload: .keepsTrying(after: .seconds(5))
        ),
        live: LivePolicy(
            targetLatency: .targetDurations(3),
            targetLatencyOfDASH: .duration(.seconds(30)),
            targetIncreaseOnStall: .duration(.milliseconds(500)),
            catchUp: .proportional(factor: 0.1, minimum: 0.97, maximum: 1.03, tolerance: .milliseconds(20)),
            catchUpNeedsDeclaration: true,
            behindWindow: .ends,
            staleAfter: .targetDurations(3.5),
            usesParts: true,
            // HlsPlaylistParser: only hints of parts, and only ranges with an end.
            preloadedHints: [.part]
        )
    ).asking(for: .gzip)

    /// `DefaultLoadErrorHandlingPolicy.isEligibleForFallback`.
    private static let exoPlayerFallbacks: Set<Int> = [403, 404, 410, 416, 500, 503]

    /// Apple's AVPlayer, of which few parameters are published: all other figures are estimates, which stand for no
    /// version.
    ///
    /// It begins with the variant that is listed first (Apple, HTTP Live Streaming FAQ; not verified for today's), and
    /// in live streams not closer to the end than three target durations (RFC 8216, section 6.3.3).
    public static let avPlayer = PlayerProfile(
        name: "avplayer",
        // Not published.
        buffer: BufferPolicy(startThreshold: .seconds(2), resumeThreshold: .seconds(4), maximum: .seconds(50)),
        // The back buffer is not published: everything is kept.
        // Not published.
        rule: ThroughputRule(
            estimator: ThroughputEstimator(.movingAverages(fastHalfLife: .seconds(3), slowHalfLife: .seconds(9))),
            fraction: 0.8,
            minimumBufferForIncrease: .seconds(10),
            abandonment: .hlsJS
        ),
        start: .firstListed,
        // Not published.
        segmentUse: .progressive,
        // Not published.
        retry: RetryPolicy(
            maximumRetries: 3,
            backoff: .exponential(first: .seconds(1), factor: 2, maximum: .seconds(8), jitter: 0),
            firstByteTimeout: .seconds(15),
            loadTimeout: .seconds(60)
        ),
        // Not published.
        failurePlan: FailurePlan([
            .retry, .useOtherLocation(excludedFor: nil), .useOtherVariant(excludedFor: nil),
        ]),
        live: LivePolicy(
            targetLatency: .targetDurations(3),
            // Not published, but its error log calls a playlist stale that has not changed for 1.5 target durations,
            // the time in which RFC 8216, section 6.2.2, wants a change; when it gives up is a guess.
            staleAfter: .targetDurations(6),
            usesParts: true,
            // That it requests hinted parts follows from Apple's design of the tag; which hints it uses is not
            // published.
            preloadedHints: [.part, .initialization]
        )
    ).asking(for: .gzip)

    /// mpv 0.35 with the HLS and DASH demuxers of FFmpeg 5.1, the versions that the probe was compared with.
    ///
    /// mpv's manual: `--cache-pause-wait` 1 s, `--cache-pause-initial` no, `--demuxer-max-bytes` 150 MiB,
    /// `--demuxer-readahead-secs` 1 s, `--network-timeout` 60 s, `--hls-bitrate` max: it never changes the rendition.
    /// libavformat's hls.c: `live_start_index` −3; a segment that fails is skipped (`seg_max_retry` 0). What is kept
    /// behind the playhead is limited in bytes (50 MiB).
    ///
    /// libavformat 5.1, hls.c: `read_data_continuous` fills a buffer of `INITIAL_BUFFER_SIZE` (32 KiB) before the
    /// demuxer gets any of it. mpegts.c returns a picture's packet when the next one begins, and the parser of
    /// H.264 its picture when it has the next packet (traced with mpv 0.35, docs/measurements.md).
    ///
    /// Not modelled: the back buffer's limit (everything is kept); the first segments of all variants, which the
    /// demuxer fetches as it opens a stream; that mpv's level is that of the longer track, from the last frame that was
    /// taken for decoding on; the frames that its decoders hold, for which a stall begins up to 0.2 s earlier; requests
    /// of the next segment ahead of time (`http_multiple`); audio and video that are fetched apart by one thread.
    public static let mpv = PlayerProfile(
        name: "mpv",
        buffer: BufferPolicy(startThreshold: .zero, resumeThreshold: .seconds(1), maximum: .seconds(1)),
        byteBudget: ByteBudget(bytes: 150 << 20, limit: .seconds(3_600_000)),
        rule: FixedRule(.highest),
        start: .highest,
        segmentUse: .progressive,
        demuxerLookahead: DemuxerLookahead(blockSize: 32_768, pictures: 1),
        retry: RetryPolicy(
            maximumRetries: 0,
            backoff: .constant(.zero),
            firstByteTimeout: .seconds(60),
            stallTimeout: .seconds(60)
        ),
        failurePlan: FailurePlan([.retry, .skipSegment]),
        // hls.c, `read_data_continuous`: expired segments are skipped.
        live: LivePolicy(targetLatency: .targetDurations(3), behindWindow: .jumpsToStart(offset: .zero))
    ).asking(for: .none)
}
