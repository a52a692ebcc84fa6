extension PlayerProfile {
    /// The media element decides when a browser starts and continues (`HAVE_FUTURE_DATA`, HTML standard, section
    /// 4.8.11). The level is not published in seconds: as soon as anything is there.
    private static func browserBuffer(maximum: Duration) -> BufferPolicy {
        BufferPolicy(startThreshold: .zero, resumeThreshold: .zero, maximum: maximum)
    }

    /// hls.js 1.6.
    ///
    /// src/config.ts: `maxBufferLength` 30 s or what 60 MB hold (`maxBufferSize`), at most 600 s
    /// (`maxMaxBufferLength`); `backBufferLength` infinite; `progressive` false; the load policies;
    /// `liveSyncDurationCount` 3, `liveSyncOnStallIncrease` 1 s, `maxLiveSyncPlaybackRate` 1.
    /// src/utils/error-helper.ts: 4xx and connections that fail are not tried again, delays double, `linear` ones are
    /// constant. The first level that the playlist names is the first that is fetched (`startLevel` undefined; not
    /// verified for 1.6).
    public static let hlsJS = PlayerProfile(
        name: "hlsjs",
        buffer: browserBuffer(maximum: .seconds(30)),
        byteBudget: ByteBudget(bytes: 60_000_000, limit: .seconds(600)),
        rule: ThroughputRule.hlsJS,
        start: .firstListed,
        segmentUse: .complete,
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
        afterRetries: [.useOtherVariant(excludedFor: nil), .fail],
        live: LivePolicy(
            targetLatency: .targetDurations(3),
            targetIncreaseOnStall: .duration(.seconds(1))
        )
    )

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

    /// dash.js 5.
    ///
    /// src/core/Settings.js: `bufferTimeDefault` 18 s (30 s, in long media 60 s, at the top quality are not modelled),
    /// `bufferToKeep` 20 s, `retryAttempts` 3 after 500 ms (MPD) and 1000 ms, `fragmentRequestTimeout` 20 s,
    /// `manifestRequestTimeout` 10 s. src/streaming/controllers/AbrController.js: `DEFAULT_VIDEO_BITRATE` 1000 kbit/s.
    /// src/streaming/controllers/PlaybackController.js: four fragments behind the edge (`FRAGMENT_DURATION_FACTOR`).
    /// Its catch-up is off unless the MPD asks for it. What follows the last retry: not verified.
    public static let dashJS = PlayerProfile(
        name: "dashjs",
        buffer: browserBuffer(maximum: .seconds(18)),
        backBuffer: .seconds(20),
        rule: HybridRule.dashJS,
        start: .estimate(1_000_000),
        segmentUse: .complete,
        retry: RetryPolicy(maximumRetries: 3, backoff: .constant(.seconds(1)), loadTimeout: .seconds(20)),
        retries: [
            .manifest: RetryPolicy(
                maximumRetries: 3,
                backoff: .constant(.milliseconds(500)),
                loadTimeout: .seconds(10)
            )
        ],
        afterRetries: [.fail],
        live: LivePolicy(targetLatency: .targetDurations(4))
    )

    /// Shaka Player 4.
    ///
    /// lib/util/player_configuration.js: `rebufferingGoal` 2 s (for the start as well), `bufferingGoal` 10 s,
    /// `bufferBehind` 30 s, `defaultBandwidthEstimate` 1 Mbit/s, `maxDisabledTime` 30 s. Its tutorial "Network and
    /// Buffering Configuration": `retryParameters`, one retry of two attempts after 1 s ± 50 %, timeouts of 30, 10 (to
    /// connect) and 5 s (stall). 401 and 403 are not tried again (not verified). HLS plays three target durations
    /// behind the edge (RFC 8216, section 6.3.3; not verified).
    public static let shaka = PlayerProfile(
        name: "shaka",
        buffer: BufferPolicy(startThreshold: .seconds(2), resumeThreshold: .seconds(2), maximum: .seconds(10)),
        backBuffer: .seconds(30),
        rule: ThroughputRule.shaka,
        start: .estimate(1_000_000),
        segmentUse: .complete,
        retry: RetryPolicy(
            maximumRetries: 1,
            backoff: .exponential(first: .seconds(1), factor: 2, maximum: .seconds(60), jitter: 0.5),
            firstByteTimeout: .seconds(10),
            loadTimeout: .seconds(30),
            stallTimeout: .seconds(5),
            statuses: .allExcept([401, 403])
        ),
        afterRetries: [.useOtherVariant(excludedFor: .seconds(30)), .fail],
        live: LivePolicy(targetLatency: .targetDurations(3))
    )
}
