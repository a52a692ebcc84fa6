extension PlayerProfile {
    /// mpv 0.35 with the HLS and DASH demuxers of FFmpeg 5.1, the versions that the probe was compared with.
    ///
    /// mpv's manual: `--cache-pause-wait` 1 s, `--cache-pause-initial` no, `--demuxer-max-bytes` 150 MiB,
    /// `--demuxer-readahead-secs` 1 s, `--network-timeout` 60 s, `--hls-bitrate` max: it never changes the rendition.
    /// libavformat's hls.c: `live_start_index` −3; `prefer_x_start` 0, so that it ignores `EXT-X-START`; a segment that
    /// fails is skipped (`seg_max_retry` 0). What is kept behind the playhead is limited in bytes (50 MiB).
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
    ).asking(for: .none).beginning(.ignored)
}
