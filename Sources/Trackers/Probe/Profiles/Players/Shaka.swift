internal import Instrument

extension PlayerProfile {
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
    /// lib/player.js:8194: the playback rate follows `Latency@target` of an MPD, counted from the end of the seek
    /// range, where playback starts; `liveSync` itself is off.
    ///
    /// In low latency (`lowLatencyMode`, on by default), DASH plays by chunks, HLS by parts, also by those that the
    /// playlist hints at, and the engine looks every 0.05 and 0.1 s (`updateIntervalSeconds`,
    /// lib/util/player_configuration.js:509). It requests the first two segments of a stream at once, and segments of
    /// DASH with a template before they are available.
    ///
    /// Not modelled: in low latency the shorter back-offs and exclusions, a downlink that Chromium has learnt from
    /// other traffic, the sizes of initialization segments, the time of appending, changes of the element's size,
    /// frames that are dropped for another reason than that they came too late, and the choice between codecs
    /// (lib/util/stream_utils.js:42): all codecs and audio-only variants of a playlist are in one ladder.
    public static let shaka = PlayerProfile(
        name: "shaka",
        buffer: Chromium.buffer(maximum: .seconds(10)),
        bufferCheck: BufferCheck(interval: .milliseconds(500), leadInterval: .seconds(1)),
        // lib/media/streaming_engine.js:1917, `inaccurateManifestTolerance`.
        lookupTolerance: .seconds(2),
        backBuffer: .seconds(30),
        rule: ThroughputRule.shaka,
        start: .estimate(1_450_000),
        segmentUse: .complete,
        acceptance: .mediaSource(usesDeclaredCodecs: true, transmuxer: .shaka),
        // Transport streams: 2 plays.
        decodeDelay: DecodeDelay(
            start: .milliseconds(19),
            transmuxedStart: .milliseconds(255),
            resume: Chromium.resume
        ),
        pacing: Shaka.Pacing(),
        initializationLoading: .withSegment,
        inspectsCaptions: true,
        sampling: Shaka.Sampling(parts: Shaka.progress, cacheTime: .milliseconds(5)),
        // Medians on two cores with nothing else to do.
        processing: ProcessingTimes(
            presentation: .milliseconds(55),
            multivariantPlaylist: .milliseconds(45),
            mediaPlaylist: .milliseconds(20),
            fragment: SegmentWork(.milliseconds(4)),
            transmuxedSegment: SegmentWork(.milliseconds(7))
        ),
        ladderIncludesAudio: true,
        // lib/util/player_configuration.js:332, `droppedFramesThreshold`, `droppedFramesInterval`,
        // `droppedFramesBanDuration`.
        droppedFrames: DroppedFramePolicy(limit: 0.15, interval: .seconds(2), exclusion: .seconds(30)),
        retry: RetryPolicy(
            maximumRetries: 1,
            backoff: .exponential(first: .seconds(1), factor: 2, maximum: .seconds(60), jitter: 0.5),
            firstByteTimeout: .seconds(10),
            loadTimeout: .seconds(30),
            stallTimeout: .seconds(5),
            progress: Shaka.progress
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
            serviceTarget: .startPosition,
            // lib/util/player_configuration.js, `liveSync`.
            catchUp: .fixed(minimum: 0.95, maximum: 1.1, tolerance: .milliseconds(500)),
            // lib/media/streaming_engine.js:1707: half of the last segment, `updateIntervalSeconds` at most.
            searchIntervals: [.duration(.seconds(1)), .targetDurations(0.5)],
            behindWindow: .jumpsToStart(offset: .seconds(5)),
            usesParts: true,
            preloadedHints: [.part],
            usesPatches: true
        )
    ).changing(
        inLowLatency: LowLatencyMode(
            segmentUse: .progressive,
            bufferCheck: BufferCheck(interval: .milliseconds(50), leadInterval: .milliseconds(100)),
            // lib/dash/dash_parser.js:882, `defaultPresentationDelay`.
            targetLatencyOfDASH: .duration(.zero),
            // lib/dash/segment_template.js, `computeAvailablePositionRange`: one position more.
            requestsUnavailable: true,
            // `segmentPrefetchLimit` 2.
            requestsTwo: true
        )
    )
    // lib/media/playhead.js, `clampSeekToDuration_`: `durationBackoff` of a second.
    .asking(for: .browser).beginning(.used(beforeEnd: .seconds(1)))
}

/// How Shaka Player decides.
enum Shaka {
    /// lib/net/http_fetch_plugin.js:201, `minBytesForProgressEvents`; lib/net/networking_engine.js:563: timeouts count
    /// from these events.
    static let progress = TransferParts(time: .milliseconds(100), bytes: 16_000)

    /// Neither track is a segment or more ahead of the other: lib/media/streaming_engine.js:1744, by the times of the
    /// manifest and its longest segment.
    struct Pacing: TrackPacing {
        func permits(_ request: PacedRequest) -> Bool {
            let longest = max(request.track.longestDuration, request.other.longestDuration)
            return request.track.timeNeeded.saturatingSubtract(request.other.timeNeeded) < longest
        }
    }

    /// Each part of a download is a sample.
    struct Sampling: ThroughputSampling {
        /// How far the samples of a download reach.
        private struct Progress: Hashable {
            /// The number of the request.
            var number: Int
            var count: Int
            var instant: MonotonicInstant
        }

        /// The limits of a part.
        let parts: TransferParts
        /// A part that took less time came from a cache, and does not count.
        let cacheTime: Duration
        /// The samples of the running downloads.
        private var running: [StreamRole: Progress] = [:]

        init(parts: TransferParts, cacheTime: Duration) { (self.parts, self.cacheTime) = (parts, cacheTime) }

        /// Parts of downloads are short: the same time takes more of them.
        var capacity: Int { 400 }
        /// The wait for the bytes that complete a part.
        var sampleDelay: Duration { .milliseconds(10) }
        /// lib/net/http_fetch_plugin.js:202: the end of the body (`readObj.done`) is reported as each part is, before
        /// the response is complete; a change of the stream then aborts the request, and the segment is fetched again.
        var decidesWithLastBytes: Bool { true }
        var nextSample: MonotonicInstant? { running[.main].map { $0.instant.advanced(by: parts.time) } }

        mutating func samples(of download: SampledDownload) -> [ThroughputSample] {
            let (transfer, arrivals) = (download.transfer, download.transfer.arrivals)
            let start = Progress(number: transfer.number, count: 0, instant: transfer.begun)
            var progress = running[download.role].flatMap { $0.number == transfer.number ? $0 : nil } ?? start
            var samples: [ThroughputSample?] = []
            while let end = arrivals.endOfPart(of: parts, behind: progress.count, from: progress.instant) {
                samples.append(sample(from: progress, to: end, firstByte: arrivals.first))
                (progress.count, progress.instant) = end
            }
            if download.state == .complete, arrivals.count > progress.count, let last = arrivals.last {
                samples.append(sample(from: progress, to: (arrivals.count, last), firstByte: arrivals.first))
            }
            running[download.role] = download.state == .running ? progress : nil
            return samples.compactMap(\.self)
        }

        private func sample(
            from start: Progress,
            to end: (count: Int, instant: MonotonicInstant),
            firstByte: MonotonicInstant?
        ) -> ThroughputSample? {
            guard start.instant.duration(to: end.instant) >= cacheTime else { return nil }
            let first = start.count == 0 ? firstByte ?? start.instant : start.instant
            return ThroughputSample(
                bytes: Int64(end.count - start.count),
                transferTime: first.duration(to: end.instant),
                timeToFirstByte: start.instant.duration(to: first),
                end: end.instant
            )
        }
    }
}
