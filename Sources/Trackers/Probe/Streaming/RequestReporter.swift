internal import Instrument
internal import InstrumentCMCD
internal import InstrumentManifests
internal import InstrumentTransport

/// Describes a request and the playback that makes it, in the keys of CMCD.
struct RequestReporter {
    let tracks: TrackTable
    let subtitles: TrackLoading?
    let manifest: ManifestLoading
    /// The latency of a live stream, once it is known.
    let live: AdaptationContext.Live?
    /// The bitrate of downloads, bit/s; nil before the first one.
    let throughput: Double?
    let measured: MeasuredBitrate
    /// The level at which the player pauses.
    let maximumBuffer: Duration
    let view: PlaybackView

    /// Describes a request.
    ///
    /// Keys by the type of the request: every request has the session, its number, the state, the position and the
    /// throughput; a segment also its duration, its bitrate, those of the ladder, the buffer, dropped frames (a probe
    /// drops none), the sufficient throughput, and the next segment.
    func describe(_ purpose: FetchPurpose, to url: HTTPURL, in report: inout CMCDReport) {
        report[.objectType] = objectType(of: purpose).map { .token($0.rawValue) }
        describeStream(in: &report)
        describePlayhead(in: &report)
        guard case .segment(let role) = purpose, let track = tracks[role] else { return }
        describe(track, role, in: &report)
        report[.nextObjects] = nextObject(of: track, requesting: url)
    }

    private func objectType(of purpose: FetchPurpose) -> CMCDObjectType? {
        switch purpose {
        case .manifest, .patch, .element, .playlist: .manifest
        case .index, .initialization: .initialization
        case .key, .licence: .key
        case .clock, .steering: nil
        case .segment(.subtitles): subtitles?.plan?.segment?.initialization == nil ? .caption : .timedText
        case .segment(let role), .hint(.part, let role): mediaType(of: role)
        case .hint(.initialization, _): .initialization
        }
    }

    private func mediaType(of role: StreamRole) -> CMCDObjectType? {
        guard let id = tracks[role]?.renditionInUse, let kind = manifest[id]?.rendition.kind else { return nil }
        switch kind {
        case .video: return .video
        case .audio: return .audio
        case .muxed: return tracks[.audio]?.renditionInUse == nil ? .muxed : .video
        case .subtitles: return .caption
        }
    }

    private func describeStream(in report: inout CMCDReport) {
        guard let presentation = manifest.presentation else { return }
        switch presentation.format {
        case .hls: report[.streamingFormat] = .token("h")
        case .dash: report[.streamingFormat] = .token("d")
        }
        guard let id = tracks[.main]?.renditionInUse, let state = manifest[id], state.timeline != nil else { return }
        report[.streamType] = .token(state.isLive ? "l" : "v")
        if state.isLive, let live { report[.liveLatency] = .integer(max(0, live.latency.milliseconds)) }
    }

    private func describePlayhead(in report: inout CMCDReport) {
        let state: CMCDPlayerState =
            switch view.playhead {
            case .starting: .starting
            case .seeking: .seeking
            case .stalled: .rebuffering
            case .paused: .paused
            case .playing: .playing
            }
        report[.state] = .token(state.rawValue)
        if state == .starting || state == .seeking || state == .rebuffering { report[.isStartup] = .boolean(true) }
        report[.playheadTime] = playheadTime.map { .integer($0) }
        if let rate = view.model?.rate, state == .playing, rate != 1 { report[.playbackRate] = .decimal(rate) }
        if let throughput {
            report[.throughput] = .number(max(0, Int(clamping: Int64(clamping: throughput / 1000))))
        }
    }

    /// The position, in milliseconds. In a live stream, the calendar time that the stream declares for it, and nil if
    /// the stream declares none (CTA-5004-B, Table 1).
    private var playheadTime: Int? {
        guard view.model != nil, let id = tracks[.main]?.renditionInUse, let state = manifest[id],
            let timeline = state.timeline
        else { return nil }
        let position = max(0, view.position)
        if !state.isLive { return Int(clamping: position / 1_000_000) }
        return timeline.wallTime(at: position).map { Int(clamping: $0.milliseconds) }
    }

    private func describe(_ track: TrackLoading, _ role: StreamRole, in report: inout CMCDReport) {
        let type = mediaType(of: role)
        if let segment = track.plan?.segment {
            report[.objectDuration] = .integer(Int(clamping: max(0, segment.duration) / 1_000_000))
        }
        let level = Int(clamping: track.level(at: view.position) / 1_000_000)
        report[.bufferLength] = .number(level, type)
        report[.targetBufferLength] = .number(max(0, maximumBuffer.milliseconds), type)
        // At the current playback rate; before playback the buffer does not drain.
        if view.playhead == .playing, let rate = view.model?.rate, rate > 0 {
            report[.deadline] = .integer(Int(clamping: Int64(clamping: Double(level) / rate)))
        }
        if view.model != nil { report[.droppedFrames] = .integer(0) }
        if role == .main { describeBitrates(of: track, type, in: &report) }
    }

    /// The bitrates of the requested rendition and of the ladder, as declared. What is not known is not sent
    /// (CTA-5004-B, section 3): a media playlist without a multivariant playlist declares no bitrate.
    ///
    /// CTA-5004-B, Table 1, lets a player estimate `br`: that of the segment in the playlist, or else that of the
    /// segments of the rendition that were read. For `tb` and `lb` nothing is declared, so that they are not sent.
    private func describeBitrates(of track: TrackLoading, _ type: CMCDObjectType?, in report: inout CMCDReport) {
        guard let presentation = manifest.presentation, let ladder = manifest.ladder, let plan = track.plan else {
            return
        }
        let declared = ladder.map { rung -> Int? in
            guard presentation.variants.indices.contains(rung.id) else { return nil }
            return presentation.variants[rung.id].peakBitrate > 0 ? rung.peakBitrate : nil
        }
        let requested = declared[ladder.clamped(plan.rung)]
        let estimated = plan.segment?.bitrate.map { Int(clamping: $0) } ?? measured.bitrate(of: plan.rendition)
        guard let bitrate = requested ?? estimated, bitrate > 0 else { return }
        report[.requestedThroughput] = sufficientThroughput(track, bitrate)
        // HLS declares the total bitrate of the played renditions.
        let isAggregate = requested != nil && presentation.format == .hls && type != .muxed
        let kilobits = { (bitrate: Int) in
            CMCDValue.number(max(1, bitrate.saturatingAdd(500) / 1000), isAggregate ? nil : type)
        }
        report[isAggregate ? .aggregateBitrate : .bitrate] = kilobits(bitrate)
        let known = declared.compactMap(\.self)
        guard known.count == ladder.count, let lowest = known.min(), let highest = known.max() else { return }
        report[isAggregate ? .topAggregateBitrate : .topBitrate] = kilobits(highest)
        report[isAggregate ? .lowestAggregateBitrate : .lowestBitrate] = kilobits(lowest)
    }

    /// The throughput with which a segment arrives long before the buffer is empty, in kbit/s; nil while the player
    /// wants all that it can get.
    private func sufficientThroughput(_ track: TrackLoading, _ bitrate: Int) -> CMCDValue? {
        guard view.playhead == .playing, let rate = view.model?.rate, rate > 0, let segment = track.plan?.segment else {
            return nil
        }
        let level = track.level(at: view.position)
        guard level > 0, segment.duration > 0 else { return nil }
        let seconds = Double(level) / rate
        let kilobits = Double(bitrate) * Double(segment.duration) / seconds * Self.throughputMargin / 1000
        return .integer(max(1, Int(clamping: Int64(clamping: kilobits / 100))).saturatingMultiply(100))
    }

    /// As in dash.js, so that a server that slows a response down to this value causes no stall.
    private static var throughputMargin: Double { 5 }

    /// The segment behind the requested one, which the player requests next unless it changes the rendition.
    private func nextObject(of track: TrackLoading, requesting url: HTTPURL) -> CMCDValue? {
        guard let plan = track.plan, let segment = plan.segment,
            let next = manifest[plan.rendition]?.index?.segment(after: segment.sequence), !next.isGap,
            let path = url.relativePath(to: next.url)
        else { return nil }
        let range = next.byteRange.map { CMCDValue.Parameter("r", .string($0.interval)) }
        return .list([CMCDValue.Element(.string(path), range.map { [$0] } ?? [])])
    }
}
