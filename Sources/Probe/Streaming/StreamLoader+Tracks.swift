internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

// What is fetched next, and whether it is time.
extension StreamLoader {
    /// Sees to all that can be begun now.
    mutating func pump(_ session: inout PlaybackSession, now: Timestamp) {
        guard !isOver, session.outcome == nil else { return }
        if presentation == nil { return tryManifestAgain(now: now.instant) }
        excluded = excluded.filter { $0.value > now.instant }
        refresh(&session, now: now)
        if tracks[.main] == nil { tracks[.main] = StreamTrack(at: session.pendingSeek ?? 0) }
        for role in StreamRole.allCases where !isOver { advance(role, &session, now: now) }
        if !isOver, tracks.values.allSatisfy(\.isAtEnd) { give(up: nil, &session, now: now.instant) }
    }

    private mutating func tryManifestAgain(now: MonotonicInstant) {
        guard fetching(.manifest) == nil, let retry = retries[.manifest], retry.notBefore <= now,
            case .http(let text) = source.location, let url = try? HTTPURL(text)
        else { return }
        fetch(.manifest, url, now: now)
    }

    /// Goes one step on with a stream: what to take, where it is, what it needs, and then itself.
    private mutating func advance(_ role: StreamRole, _ session: inout PlaybackSession, now: Timestamp) {
        // Steps that need no fetch (a gap, a stream that had to be placed first) follow one another at once; each brings the
        // cursor on. After many it takes a break, so that others have their turn.
        tracks[role]?.takesBreak = false
        for _ in 0..<1000 {
            guard let track = tracks[role], !track.isAtEnd, !isBusy(role), !isOver else { return }
            if track.plan == nil {
                if hasLoadedAll(track) {
                    tracks[role]?.isAtEnd = true
                    return
                }
                guard hasRoom(track, session, now: now.instant) else { return idle(role, now: now.instant) }
                guard let plan = makePlan(role, session, now: now.instant) else { return }
                noteIdleTime(role, session, now: now.instant)
                tracks[role]?.plan = plan
            }
            guard step(role, &session, now: now) else { return }
        }
        tracks[role]?.takesBreak = true
    }

    /// Whether the last segment has come: another variant need not be asked what follows it.
    private func hasLoadedAll(_ track: StreamTrack) -> Bool {
        guard case .after(let sequence, let rendition, _) = track.cursor, let index = renditions[rendition]?.index,
            index.isComplete, let last = index.last
        else { return false }
        return sequence >= last.sequence
    }

    /// Does the next thing for a plan; false if it has to be waited for something.
    private mutating func step(_ role: StreamRole, _ session: inout PlaybackSession, now: Timestamp) -> Bool {
        guard let plan = tracks[role]?.plan, let state = renditions[plan.rendition] else { return false }
        guard let index = state.index else {
            fetchIndex(of: state, now: now.instant)
            return false
        }
        // A live playlist that has nothing yet does not say where to begin.
        if index.isEmpty, !index.isComplete { return false }
        guard placeStart(role, state, &session, now: now) else { return true }
        guard let segment = plan.segment else { return chooseSegment(role, index, &session, now: now) }
        if segment.isGap {
            skip(segment, role, "the playlist declares a gap", &session, now: now.instant)
            return true
        }
        if let availability = segment.availability, availability > now.wallTime { return false }
        fetchParts(of: segment, role, &session, now: now)
        return false
    }

    /// What the segment needs first, and then the segment; each only when it is due.
    private mutating func fetchParts(
        of segment: MediaSegment,
        _ role: StreamRole,
        _ session: inout PlaybackSession,
        now: Timestamp
    ) {
        if let encryption = segment.encryption {
            guard case .aes128 = encryption.method, let url = encryption.keyURL else {
                return refuse(encryption, segment, role, &session, now: now)
            }
            guard store.key(at: url) != nil else { return fetchIfDue(.key(role), url, nil, now: now.instant) }
        }
        if let initialization = segment.initialization, store.bytes(of: initialization) == nil {
            return fetchIfDue(.initialization(role), initialization.url, initialization.byteRange, now: now.instant)
        }
        fetchIfDue(.segment(role), segment.url, segment.byteRange, now: now.instant)
    }

    private mutating func refuse(
        _ encryption: SegmentEncryption,
        _ segment: MediaSegment,
        _ role: StreamRole,
        _ session: inout PlaybackSession,
        now: Timestamp
    ) {
        var name = "this encryption"
        if case .unsupported(let method) = encryption.method { name = method }
        let message = "its segments are encrypted (\(name)), which the probe does not undo; choose a clear stream"
        let error = ProbeError(.unsupportedStream, .segment, source, message, url: segment.url.description)
        give(up: error, &session, now: now.instant)
    }

    private mutating func fetchIfDue(
        _ purpose: FetchPurpose,
        _ url: HTTPURL,
        _ range: ByteRange?,
        now: MonotonicInstant
    ) {
        if let retry = retries[purpose], retry.notBefore > now { return }
        guard fetching(purpose) == nil else { return }
        fetch(purpose, url, range: range, now: now)
    }

    private mutating func fetchIndex(of state: RenditionState, now: MonotonicInstant) {
        if let index = state.missingPart?.index {
            fetchIfDue(.index(state.rendition.id), index.url, index.indexRange, now: now)
        } else {
            fetchPlaylist(of: state, now: now)
        }
    }

    mutating func fetchPlaylist(of state: RenditionState, now: MonotonicInstant) {
        if let url = state.playlistURL { fetchIfDue(.playlist(state.rendition.id), url, nil, now: now) }
    }
}

// MARK: Which segment
extension StreamLoader {
    private enum Choice {
        case found(MediaSegment)
        /// It went out of the window; this one is the first that is left.
        case expired(MediaSegment)
        case notYet
        case end
    }

    private mutating func chooseSegment(
        _ role: StreamRole,
        _ index: SegmentIndex,
        _ session: inout PlaybackSession,
        now: Timestamp
    ) -> Bool {
        guard let track = tracks[role], let plan = track.plan else { return false }
        switch choice(for: track.cursor, plan.rendition, index) {
        case .found(let segment):
            tracks[role]?.plan?.segment = segment
            return true
        case .expired(let first):
            return jump(over: first, role, index, &session, now: now)
        case .notYet: return false
        case .end:
            tracks[role]?.isAtEnd = true
            tracks[role]?.plan = nil
            return false
        }
    }

    private func choice(for cursor: StreamTrack.Cursor, _ rendition: Rendition.ID, _ index: SegmentIndex) -> Choice {
        let found: MediaSegment?
        switch cursor {
        case .time(let time): found = index.segment(containing: time)
        case .after(let sequence, rendition, _):
            let next = sequence.saturatingAdd(1)
            if index.hasExpired(next), let first = index.first { return .expired(first) }
            found = index.segment(numbered: next)
        case .after(_, _, let end):
            found = segment(behind: end, in: index)
        }
        if let found { return .found(found) }
        return index.isComplete ? .end : .notYet
    }

    /// In another rendition, the segment that goes on where the last one ended. Boundaries may differ by a little: a segment
    /// of which only a rest is left is not taken.
    private func segment(behind end: Int64, in index: SegmentIndex) -> MediaSegment? {
        guard let candidate = index.segment(containing: end) else { return nil }
        if candidate.end.saturatingSubtract(end) >= candidate.duration / 4 { return candidate }
        return index.segment(numbered: candidate.sequence.saturatingAdd(1))
            ?? (index.isComplete && candidate.end.saturatingSubtract(end) > 100_000_000 ? candidate : nil)
    }

    /// The first time that it is known where segments are: where does playback begin?
    ///
    /// - Returns: whether it was known already.
    private mutating func placeStart(
        _ role: StreamRole,
        _ state: RenditionState,
        _ session: inout PlaybackSession,
        now: Timestamp
    ) -> Bool {
        guard role == .main, !live.isPlaced else { return true }
        live.isPlaced = true
        let position = startPosition(state, session, now: now)
        if position > 0 { session.seek(to: position, now: now.instant) }
        tracks[.main]?.cursor = .time(position)
        tracks[.main]?.loadedEnd = position
        if let plan = tracks[.main]?.plan, let variant = variant(at: plan.rung), audio(of: variant) != nil {
            tracks[.audio] = StreamTrack(at: position)
        }
        return false
    }
}

// MARK: Whether there is room, and how good it should be
extension StreamLoader {
    func variant(at rung: Int) -> Variant? {
        guard let ladder, let presentation else { return nil }
        let index = ladder[rung].id
        return presentation.variants.indices.contains(index) ? presentation.variants[index] : nil
    }

    /// How much of a track is there ahead of the playhead.
    func level(_ track: StreamTrack, _ session: PlaybackSession, now: MonotonicInstant) -> Int64 {
        let position = session.model?.position(at: now) ?? session.pendingSeek ?? 0
        return max(0, track.loadedEnd.saturatingSubtract(position))
    }

    /// The level below which a track wants more.
    func wanted(_ track: StreamTrack) -> Int64 {
        let bitrate = (track.plan?.rung ?? track.rung).flatMap { rung in ladder.map { $0[rung].peakBitrate } }
        let maximum = bitrate.map { profile.maximumBuffer(bitrate: $0) } ?? profile.buffer.maximum
        return min(maximum.nanoseconds, track.waitUntilBuffered ?? .max)
    }

    private func hasRoom(_ track: StreamTrack, _ session: PlaybackSession, now: MonotonicInstant) -> Bool {
        if level(track, session, now: now) < max(1, wanted(track)) { return true }
        // The maximum is reached and playback waits all the same: sound that ends a little before its picture, say.
        return session.model?.isShort == true
            && tracks.values.allSatisfy { $0.isAtEnd || track.loadedEnd <= $0.loadedEnd }
    }

    private mutating func makePlan(
        _ role: StreamRole,
        _ session: PlaybackSession,
        now: MonotonicInstant
    ) -> StreamTrack.Plan? {
        switch role {
        case .main:
            guard let rung = decide(session, now: now), let variant = variant(at: rung) else { return nil }
            return StreamTrack.Plan(rung: rung, rendition: variant.main)
        case .audio:
            guard let main = tracks[.main], let rung = main.plan?.rung ?? main.rung, let variant = variant(at: rung),
                // A variant that has its sound inside does not end what plays beside it.
                let rendition = audio(of: variant) ?? tracks[.audio]?.rendition
            else { return nil }
            return StreamTrack.Plan(rung: rung, rendition: rendition)
        }
    }

    /// Sound as it was before, else in the language that is wished for, else the best choice; nil if it comes with the picture.
    private func audio(of variant: Variant) -> Rendition.ID? {
        let choice = audioChoice(of: variant)
        return choice == variant.main ? nil : choice
    }

    private func audioChoice(of variant: Variant) -> Rendition.ID? {
        if let current = tracks[.audio]?.rendition {
            if variant.audio.contains(current) { return current }
            let language = language(of: current)
            if let same = variant.audio.first(where: { self.language(of: $0) == language }) { return same }
        }
        let wish = configuration.language?.lowercased()
        let wished = variant.audio.first { id in
            guard let wish, let language = language(of: id)?.lowercased() else { return false }
            return language == wish || language.hasPrefix(wish + "-")
        }
        return wished ?? variant.audio.first
    }

    private func language(of id: Rendition.ID) -> String? { renditions[id]?.rendition.language }

    /// Asks the rule; nil if it wants to wait.
    private mutating func decide(_ session: PlaybackSession, now: MonotonicInstant) -> Int? {
        guard let ladder, let track = tracks[.main] else { return nil }
        let context = context(ladder, track, session, now: now)
        if track.rung == nil, let first = startRung(context) { return first }
        let decision = rule.decide(in: context)
        // Who waits while the playhead stands waits for ever.
        if let wait = decision.waitUntilBuffered, context.playhead == .playing, context.bufferLevel > wait {
            tracks[.main]?.waitUntilBuffered = wait.nanoseconds
            return nil
        }
        tracks[.main]?.waitUntilBuffered = nil
        return ladder.clamped(decision.rung)
    }

    /// The first rung where the profile has a rule of its own for it.
    private func startRung(_ context: AdaptationContext) -> Int? {
        profile.firstRung(firstListed: 0, in: context)
    }

    func context(
        _ ladder: BitrateLadder,
        _ track: StreamTrack,
        _ session: PlaybackSession,
        now: MonotonicInstant
    ) -> AdaptationContext {
        var constraints = profile.constraints
        constraints.excluded.formUnion(excluded.keys)
        return AdaptationContext(
            ladder: ladder,
            currentRung: track.rung,
            bufferLevel: .nanoseconds(level(track, session, now: now)),
            buffer: profile.buffer,
            playhead: session.playhead,
            segment: nextSegment(track),
            throughput: throughput,
            initialEstimate: profile.initialEstimate,
            live: live.context,
            playbackRate: session.model?.rate ?? 1,
            constraints: constraints,
            now: now
        )
    }

    private func nextSegment(_ track: StreamTrack) -> AdaptationContext.Segment {
        let index = (track.rendition ?? track.plan?.rendition).flatMap { renditions[$0]?.index }
        var (duration, remaining): (Int64, Int?) = (index?.targetDuration ?? 0, nil)
        if let index, case .after(let sequence, _, _) = track.cursor, let next = index.segment(after: sequence) {
            duration = next.duration
            if index.isComplete, let last = index.last {
                remaining = Int(clamping: last.sequence.saturatingSubtract(next.sequence).saturatingAdd(1))
            }
        }
        // Not known before the first playlist: as long as the format's authors advise (HLS Authoring Specification, 7.5).
        if duration <= 0 { duration = 6_000_000_000 }
        return AdaptationContext.Segment(
            index: track.segmentCount,
            duration: .nanoseconds(duration),
            remaining: remaining
        )
    }
}

// MARK: What rules want to know
extension StreamLoader {
    mutating func observe(_ event: AdaptationEvent, _ session: PlaybackSession, now: MonotonicInstant) {
        guard let ladder, let track = tracks[.main] else { return }
        rule.observe(event, in: context(ladder, track, session, now: now))
    }

    private mutating func idle(_ role: StreamRole, now: MonotonicInstant) {
        // A wait that the rule asked for is none of the player's.
        guard role == .main, tracks[role]?.idleSince == nil, tracks[role]?.waitUntilBuffered == nil else { return }
        tracks[role]?.idleSince = now
    }

    private mutating func noteIdleTime(_ role: StreamRole, _ session: PlaybackSession, now: MonotonicInstant) {
        guard role == .main, let since = tracks[role]?.idleSince else { return }
        tracks[role]?.idleSince = nil
        observe(.idled(since.duration(to: now)), session, now: now)
    }
}
