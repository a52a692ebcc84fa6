internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

extension StreamLoader {
    /// Something has arrived whole.
    mutating func accept(
        _ response: ResourceResponse,
        _ fetching: Fetching,
        _ session: inout PlaybackSession,
        now: Timestamp
    ) {
        do throws(ResourceFailure) {
            switch fetching.purpose {
            case .manifest: try accept(manifest: response, fetching, &session, now: now)
            case .playlist(let id): try accept(playlist: response, fetching, of: id, &session, now: now)
            case .index(let id): try accept(index: response, fetching, of: id)
            case .initialization(let role): try accept(initialization: response, fetching.request, role)
            case .key(let role): try accept(key: response, role)
            case .segment(let role):
                try accept(segment: response, fetching, role, &session, now: now)
            }
            retries[fetching.purpose] = nil
        } catch {
            failed(fetching, error, &session, now: now)
        }
    }

    private mutating func accept(
        manifest response: ResourceResponse,
        _ fetching: Fetching,
        _ session: inout PlaybackSession,
        now: Timestamp
    ) throws(ResourceFailure) {
        guard case .presentation(let parsed)? = try reading(of: response) else { return }
        let isFirst = presentation == nil
        if let format = presentation?.format, format != parsed.format {
            throw .wrongContent("this is a manifest of another kind than before")
        }
        take(ladderOfReloaded: parsed, &session)
        for rendition in parsed.renditions { take(rendition, of: parsed, begun: fetching.begun) }
        // By what this manifest has: a representation that has gone would be due for ever.
        let reloads = parsed.renditions.compactMap { renditions[$0.id]?.timeline?.nextReload }
        live.updateAt = parsed.format == .dash ? reloads.min() : nil
        if isFirst {
            var info = MediaInfo()
            info.duration = parsed.duration
            session.manifestLoaded(info, now: now.instant)
        } else {
            session.learn(duration: parsed.duration)
        }
        for notice in parsed.notices where isFirst {
            warn(.notSupported, notice.message, parsed.url, &session, now: now.instant)
        }
    }

    /// The ladder, which a reload may change: what is in use keeps its variant, if that is still there.
    private mutating func take(ladderOfReloaded new: Presentation, _ session: inout PlaybackSession) {
        defer { presentation = new }
        guard let old = presentation else { return take(ladderOf: new) }
        let described = { (variants: [Variant]) in variants.map { [$0.id, $0.main.description, "\($0.peakBitRate)"] } }
        guard described(old.variants) != described(new.variants), let oldLadder = ladder else { return }
        take(ladderOf: new)
        guard let ladder else { return }
        let places = Dictionary(ladder.indices.map { (new.variants[ladder[$0].id].id, $0) }) { first, _ in first }
        var rungs: [Int: Int] = [:]
        for (rung, content) in zip(oldLadder.indices, oldLadder) {
            rungs[rung] = places[old.variants[content.id].id]
        }
        let missing = excluded.filter { rungs[$0.key] != nil }
        excluded = Dictionary(missing.map { (rungs[$0.key] ?? 0, $0.value) }, uniquingKeysWith: max)
        let there = Set(new.renditions.map(\.id))
        for (role, track) in tracks {
            tracks[role]?.rung = track.rung.map { rungs[$0] ?? ladder.clamped($0) }
            guard let plan = track.plan else { continue }
            tracks[role]?.plan?.rung = rungs[plan.rung] ?? ladder.clamped(plan.rung)
            if there.contains(plan.rendition) { continue }
            cancel(role, &session)
            tracks[role]?.plan = nil
        }
        let inUse = Set(tracks.values.compactMap(\.rendition))
        renditions = renditions.filter { inUse.contains($0.key) || there.contains($0.key) }
    }

    private mutating func take(ladderOf presentation: Presentation) {
        ladder = BitrateLadder(
            presentation.variants.enumerated().map { index, variant in
                LadderRung(
                    id: index,
                    peakBitrate: Int(clamping: variant.peakBitRate),
                    averageBitrate: variant.averageBitRate.map { Int(clamping: $0) },
                    width: variant.resolution?.width ?? 0,
                    height: variant.resolution?.height ?? 0
                )
            }
        )
    }

    private mutating func take(_ rendition: Rendition, of presentation: Presentation, begun: MonotonicInstant) {
        var state = renditions[rendition.id] ?? RenditionState(rendition)
        switch rendition.source {
        case .segments(let index): state.take(index, live: presentation.live, begun: begun)
        case .loaded(let playlist): state.take(playlist, on: &axis, isNumberedAlike: true, begun: begun)
        case .playlist, .parts: break
        }
        renditions[rendition.id] = state
    }

    private mutating func accept(
        playlist response: ResourceResponse,
        _ fetching: Fetching,
        of id: Rendition.ID,
        _ session: inout PlaybackSession,
        now: Timestamp
    ) throws(ResourceFailure) {
        guard var state = renditions[id] else { return }
        guard case .playlist(let parsed)? = try reading(of: response) else { return }
        guard case .media(let playlist) = parsed else {
            throw .wrongContent("this is a playlist of variants where one of segments should be")
        }
        let isNumberedAlike = state.rendition.id != tracks[.audio]?.plan?.rendition
        state.take(playlist, on: &axis, isNumberedAlike: isNumberedAlike, begun: fetching.begun)
        for notice in state.takeNotices() {
            warn(.notSupported, notice.message, response.url, &session, now: now.instant)
        }
        renditions[id] = state
        presentation?.kind = state.timeline?.kind ?? .onDemand
        if let index = state.index, index.isComplete {
            let duration = max(presentation?.duration ?? 0, index.end)
            presentation?.duration = duration
            session.learn(duration: duration)
        }
    }

    private mutating func accept(
        index response: ResourceResponse,
        _ fetching: Fetching,
        of id: Rendition.ID
    ) throws(ResourceFailure) {
        guard let missing = renditions[id]?.missingPart else { return }
        let bytes = try part(of: response, fetching.request.range)
        let index = try parse { () throws(ManifestError) in try missing.index.segments(from: bytes) }
        renditions[id]?.take(part: index, at: missing.place, begun: fetching.begun)
    }

    private mutating func accept(
        initialization response: ResourceResponse,
        _ request: ResourceRequest,
        _ role: StreamRole
    ) throws(ResourceFailure) {
        guard let segment = tracks[role]?.plan?.segment?.initialization else { return }
        store.keep(try part(of: response, request.range), of: segment)
    }

    private mutating func accept(key response: ResourceResponse, _ role: StreamRole) throws(ResourceFailure) {
        guard let url = tracks[role]?.plan?.segment?.encryption?.keyURL else { return }
        guard response.bytes.count == 16 else {
            throw .wrongContent("a key has 16 bytes, and \(response.bytes.count) came; does the key need a login?")
        }
        store.keep(key: response.bytes, at: url)
    }

    /// Of a file that was sent whole though a part was asked for: the part.
    func part(of response: ResourceResponse, _ range: ByteRange?) throws(ResourceFailure) -> [UInt8] {
        guard let range, response.status == 200 else { return response.bytes }
        let count = Int64(response.bytes.count)
        let end = range.length.map { range.offset.saturatingAdd($0) } ?? count
        guard range.offset >= 0, range.offset < end, end <= count else {
            throw .wrongContent("the part that was asked for lies outside of the \(count) bytes that were sent")
        }
        return Array(response.bytes[Int(range.offset)..<Int(end)])
    }

    /// What the engine has read of a manifest or playlist.
    private func reading(of response: ResourceResponse) throws(ResourceFailure) -> ManifestReading? {
        guard let reading = response.reading else { return nil }
        return try parse { () throws(ManifestError) in try reading.get() }
    }

    private func parse<Value>(_ body: () throws(ManifestError) -> Value) throws(ResourceFailure) -> Value {
        do throws(ManifestError) {
            return try body()
        } catch {
            throw ResourceFailure(error)
        }
    }
}

extension ResourceFailure {
    init(_ error: ManifestError) {
        self.init(failure: .connection, manifest: error, message: error.description, isFinal: true)
    }
}
