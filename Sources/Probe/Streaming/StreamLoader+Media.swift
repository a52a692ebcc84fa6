internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

/// Media that can be played, and since when.
struct MediaArrival: Hashable, Sendable {
    var track: PlaybackModel.Track
    /// Until where, on the presentation's timeline.
    var end: Int64
    var instant: MonotonicInstant
}

// What segments bring.
extension StreamLoader {
    /// A segment has arrived whole.
    mutating func accept(
        segment response: ResourceResponse,
        _ fetching: Fetching,
        _ role: StreamRole,
        _ session: inout PlaybackSession,
        now: Timestamp
    ) throws(ResourceFailure) {
        guard let plan = tracks[role]?.plan, let segment = plan.segment else { return }
        if fetching.request.range != nil, response.status == 200 {
            warn(
                .rangeIgnored,
                "all of the file was sent where a part was asked for",
                segment.url,
                &session,
                now: now.instant
            )
        }
        learn(from: response, fetching)
        let content = try content(of: response, fetching.request, plan, segment)
        if role == .audio, content.audio == nil { throw .wrongContent("there is no sound in it") }
        session.received(bytes: content.size)
        let arrivals = response.arrivals
        feed(content, arrivals, isWhole: true, role, &session, now: now)
        let download = SegmentDownload(
            rung: plan.rung,
            duration: .nanoseconds(segment.duration),
            receivedBytes: Int64(arrivals.count),
            totalBytes: Int64(arrivals.count),
            elapsed: fetching.begun.duration(to: arrivals.last ?? now.instant),
            timeToFirstByte: arrivals.first.map { fetching.begun.duration(to: $0) }
        )
        finish(segment, plan, role, content, &session, now: now.instant)
        if role == .main { observe(.downloaded(download), session, now: now.instant) }
    }

    /// The cursor moves behind a segment.
    private mutating func finish(
        _ segment: MediaSegment,
        _ plan: StreamTrack.Plan,
        _ role: StreamRole,
        _ content: SegmentContent,
        _ session: inout PlaybackSession,
        now: MonotonicInstant
    ) {
        guard var track = tracks[role] else { return }
        let placement = track.plan?.placement
        let media = content[role == .main ? .video : .audio] ?? content.main
        let end = media.map { self.end($0.end, of: $0, segment, placement) } ?? segment.end
        check(content, segment, plan, placement, isFirst: track.rendition != plan.rendition, &session, now: now)
        track.loadedEnd = max(track.loadedEnd, end)
        track.rung = plan.rung
        track.rendition = plan.rendition
        track.segmentCount += 1
        track.cursor = .after(sequence: segment.sequence, rendition: plan.rendition, end: segment.end)
        track.plan = nil
        tracks[role] = track
        renditions[plan.rendition]?.lastMediaEnd = (segment.sequence, end)
    }

    /// Goes on behind a segment that there is not.
    mutating func skip(
        _ segment: MediaSegment,
        _ role: StreamRole,
        _ why: String,
        _ session: inout PlaybackSession,
        now: MonotonicInstant
    ) {
        guard var track = tracks[role], let plan = track.plan else { return }
        warn(.missingSegment, "segment \(segment.sequence) is missing: \(why)", segment.url, &session, now: now)
        track.cursor = .after(sequence: segment.sequence, rendition: plan.rendition, end: segment.end)
        track.loadedEnd = max(track.loadedEnd, segment.end)
        track.plan = nil
        tracks[role] = track
        // Before there is anything, playback begins behind what is missing.
        if session.model == nil { session.seek(to: max(segment.end, session.pendingSeek ?? 0), now: now) }
        // Time passes over what is missing, as in a player that shows the last picture.
        for kind in track.kinds { hand(over: [MediaArrival(track: kind, end: segment.end, instant: now)], &session) }
    }

    private mutating func learn(from response: ResourceResponse, _ fetching: Fetching) {
        guard let first = response.arrivals.first, let last = response.arrivals.last else { return }
        throughput.append(
            ThroughputSample(
                bytes: Int64(response.arrivals.count),
                transferTime: first.duration(to: last),
                timeToFirstByte: fetching.begun.duration(to: first),
                end: last
            )
        )
    }

    private mutating func content(
        of response: ResourceResponse,
        _ request: ResourceRequest,
        _ plan: StreamTrack.Plan,
        _ segment: MediaSegment
    ) throws(ResourceFailure) -> SegmentContent {
        var bytes = try part(of: response, request.range)
        if let encryption = segment.encryption, let key = encryption.keyURL.flatMap({ store.key(at: $0) }) {
            let vector = encryption.initializationVector
            guard let plain = SegmentCipher.decrypt(bytes, key: key, initializationVector: vector) else {
                throw .wrongContent("it cannot be decrypted; is it the right key?")
            }
            bytes = plain
        }
        let initialization = segment.initialization.flatMap { store.bytes(of: $0) } ?? []
        let isInspected = renditions[plan.rendition]?.isInspected ?? true
        do throws(SegmentDemuxer.Failure) {
            let content = try SegmentDemuxer.demux(bytes, initialization: initialization, inspecting: !isInspected)
            renditions[plan.rendition]?.isInspected = true
            return content
        } catch {
            throw .wrongContent(error.message(contentType: response.contentType))
        }
    }
}

// MARK: As bytes come in
extension StreamLoader {
    /// Whether it matters now what has come of a segment so far.
    func wantsProgress(_ session: PlaybackSession) -> Bool {
        guard profile.segmentUse == .progressive, !isOver else { return false }
        return session.model?.isWaiting ?? true
    }

    /// Looks at what has come of the segments on their way.
    mutating func catchUp(_ session: inout PlaybackSession, now: Timestamp) {
        guard profile.segmentUse == .progressive, !isOver else { return }
        let isStarving = session.model?.nextDeadline(after: now.instant).map { $0 <= now.instant } ?? false
        guard isStarving || wantsProgress(session) else { return }
        for fetching in fetches.values.sorted(by: { $0.number < $1.number }) {
            guard case .segment(let role) = fetching.purpose else { continue }
            catchUp(fetching, role, isStarving: isStarving, &session, now: now)
        }
    }

    private mutating func catchUp(
        _ fetching: Fetching,
        _ role: StreamRole,
        isStarving: Bool,
        _ session: inout PlaybackSession,
        now: Timestamp
    ) {
        // Each look reads all from the beginning: the more there is, the more has to be new, so that one that trickles costs
        // a few times what it would cost whole. A wait loses no exactness by it, since what is found counts from when it came.
        guard let plan = tracks[role]?.plan, let segment = plan.segment, segment.encryption == nil,
            fetching.buffer.count >= plan.lookedAt + max(2048, plan.lookedAt / (isStarving ? 128 : 16))
        else { return }
        let (bytes, arrivals) = fetching.buffer.snapshot()
        tracks[role]?.plan?.lookedAt = bytes.count
        let initialization = segment.initialization.flatMap { store.bytes(of: $0) } ?? []
        guard let content = try? SegmentDemuxer.demux(bytes, initialization: initialization) else { return }
        feed(content, arrivals, isWhole: false, role, &session, now: now)
    }
}

// MARK: To the session
extension StreamLoader {
    /// Hands media over to the session: all of a segment, or what of it has come.
    private mutating func feed(
        _ content: SegmentContent,
        _ arrivals: ArrivalLog,
        isWhole: Bool,
        _ role: StreamRole,
        _ session: inout PlaybackSession,
        now: Timestamp
    ) {
        guard var track = tracks[role], let segment = track.plan?.segment else { return }
        let kinds = kinds(of: content, role)
        guard let media = kinds.contains(.video) ? content.video : content.main,
            isWhole || kinds.allSatisfy({ content[$0] != nil })
        else { return }
        if track.kinds.isEmpty { track.kinds = Set(kinds.filter { content[$0] != nil }) }
        let placement = track.plan?.placement ?? place(media, content, segment, track, &session, now: now.instant)
        track.plan?.placement = placement
        tracks[role] = track
        let isNew = role == .main && track.plan?.fed.isEmpty == true
        // Before the start it is what is shown first. Later it is told behind the data: to let the model's time pass before
        // it has them would run it dry.
        let isPlaying = session.model?.hasStarted == true
        let position = media.start.saturatingAdd(placement.offset)
        if isNew, !isPlaying { approach(content, at: position, &session, now: now.instant) }
        var found: [MediaArrival] = []
        for kind in PlaybackModel.Track.allCases where track.kinds.contains(kind) {
            guard let media = content[kind] else {
                // A variant of sound alone, or of pictures alone: time passes over what it does not have.
                if isWhole, let last = arrivals.last {
                    found.append(
                        MediaArrival(track: kind, end: end(media.end, of: media, segment, placement), instant: last)
                    )
                }
                continue
            }
            let usesPoints = profile.segmentUse == .progressive && segment.encryption == nil
            found += self.arrivals(
                of: media,
                kind,
                segment,
                placement,
                arrivals,
                role,
                isWhole: isWhole,
                usesPoints: usesPoints
            )
        }
        open(content, &session, found)
        hand(over: found, &session)
        if isNew, isPlaying { approach(content, at: position, &session, now: now.instant) }
    }

    private func kinds(of content: SegmentContent, _ role: StreamRole) -> [PlaybackModel.Track] {
        switch role {
        case .audio: return [.audio]
        case .main:
            let hasOwnAudio = tracks[.audio] != nil
            return [.video, .audio].filter { kind in
                content.streams.contains(kind) && !(kind == .audio && hasOwnAudio && content.streams.contains(.video))
            }
        }
    }

    private mutating func arrivals(
        of media: TrackContent,
        _ kind: PlaybackModel.Track,
        _ segment: MediaSegment,
        _ placement: StreamTimeline.Placement,
        _ log: ArrivalLog,
        _ role: StreamRole,
        isWhole: Bool,
        usesPoints: Bool
    ) -> [MediaArrival] {
        guard let last = log.last else { return [] }
        guard usesPoints else {
            return isWhole
                ? [MediaArrival(track: kind, end: end(media.end, of: media, segment, placement), instant: last)] : []
        }
        // What a demuxer gives at the end of a part is not whole yet.
        let limit = isWhole ? Int.max : log.count - 188
        let fed = tracks[role]?.plan?.fed[kind] ?? -1
        let points = media.points.filter { $0.offset > fed && $0.offset <= limit }
        if let offset = points.last?.offset { tracks[role]?.plan?.fed[kind] = offset }
        return points.map { point in
            MediaArrival(
                track: kind,
                end: end(point.end, of: media, segment, placement),
                instant: log.instant(of: max(1, point.offset)) ?? last
            )
        }
    }

    /// Until where media lasts that says it does until `end`. Timestamps that jump inside a segment do not make it a day
    /// long: nobody could play what lies between, and it would look like a buffer that is full.
    private func end(
        _ end: Int64,
        of media: TrackContent,
        _ segment: MediaSegment,
        _ placement: StreamTimeline.Placement?
    ) -> Int64 {
        let longest = segment.duration.saturatingAdd(max(segment.duration, 10_000_000_000))
        return min(end, media.start.saturatingAdd(longest)).saturatingAdd(placement?.offset ?? 0)
    }

    /// Where a segment goes, and whether its timestamps are as they should be.
    private mutating func place(
        _ media: TrackContent,
        _ content: SegmentContent,
        _ segment: MediaSegment,
        _ track: StreamTrack,
        _ session: inout PlaybackSession,
        now: MonotonicInstant
    ) -> StreamTimeline.Placement {
        let state = (track.plan?.rendition).flatMap { renditions[$0] }
        var previous: Int64?
        if let last = state?.lastMediaEnd, last.sequence.saturatingAdd(1) == segment.sequence { previous = last.end }
        let expected = StreamTimeline.Expectation(
            discontinuity: segment.discontinuity,
            start: segment.start,
            duration: segment.duration,
            mediaTime: segment.mediaTime,
            previousEnd: previous
        )
        let placement = timeline.place(media.start, of: content, expected: expected)
        if let jump = placement.jump {
            let message = "the timestamps of segment \(segment.sequence) jump by \(jump / 1_000_000) ms"
            warn(.timestampJump, message, segment.url, &session, now: now)
        }
        return placement
    }

    private func approach(
        _ content: SegmentContent,
        at position: Int64,
        _ session: inout PlaybackSession,
        now: MonotonicInstant
    ) {
        guard let rung = tracks[.main]?.plan?.rung, let variant = variant(at: rung) else { return }
        let quality = Quality(
            width: content.video?.pictureSize?.width ?? variant.resolution?.width ?? 0,
            height: content.video?.pictureSize?.height ?? variant.resolution?.height ?? 0,
            bitrate: Int(clamping: variant.averageBitRate ?? variant.peakBitRate)
        )
        session.approach(quality, at: max(0, position), now: now)
    }

    /// Once it is known which tracks there are, playback can be thought of.
    private mutating func open(_ content: SegmentContent, _ session: inout PlaybackSession, _ found: [MediaArrival]) {
        guard session.model == nil, tracks.values.allSatisfy({ !$0.kinds.isEmpty }) else { return }
        var info = session.info
        let kinds = tracks.values.reduce(into: Set<PlaybackModel.Track>()) { $0.formUnion($1.kinds) }
        info.hasVideo = kinds.contains(.video)
        info.hasAudio = kinds.contains(.audio)
        info.framesPerSecond =
            content.video?.framesPerSecond ?? tracks[.main]?.plan.flatMap { variant(at: $0.rung)?.frameRate }
        info.language =
            tracks[.audio]?.plan.flatMap { presentation?.rendition($0.rendition)?.language } ?? content.audio?.language
        let first = (waiting + found).map(\.instant).min() ?? MonotonicInstant(nanoseconds: 0)
        session.opened(info, now: first)
        _ = session.takePendingSeek()
    }

    private mutating func hand(over arrivals: [MediaArrival], _ session: inout PlaybackSession) {
        waiting += arrivals
        guard session.model != nil else { return }
        // In the order in which they came, whatever track they are of.
        for arrival in waiting.sorted(by: { $0.instant < $1.instant }) {
            session.received(arrival.track, end: arrival.end, at: arrival.instant)
        }
        waiting = []
    }
}

extension ResourceFailure {
    static func wrongContent(_ message: String) -> ResourceFailure {
        ResourceFailure(failure: .connection, isWrongContent: true, message: message, isFinal: true)
    }
}

extension SegmentDemuxer.Failure {
    func message(contentType: String?) -> String {
        let kind = contentType.map { " (sent as \($0))" } ?? ""
        switch self {
        case .unknownFormat: return "this is no media that the probe knows\(kind)"
        case .noTracks: return "there is neither picture nor sound in it\(kind)"
        case .outOfMemory: return "there is no memory to look at it"
        }
    }
}
