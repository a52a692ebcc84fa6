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
            case .manifest: try accept(manifest: response, &session, now: now)
            case .playlist(let id): try accept(playlist: response, of: id, &session, now: now)
            case .index(let id): try accept(index: response, fetching.request, of: id)
            case .initialization(let role): accept(initialization: response, fetching.request, role)
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
        _ session: inout PlaybackSession,
        now: Timestamp
    ) throws(ResourceFailure) {
        let parsed = try parse { () throws(ManifestError) in
            try Presentation(parsing: response.bytes, at: response.url, now: now.wallTime)
        }
        if presentation != nil { return renew(parsed, now: now) }
        presentation = parsed
        ladder = BitrateLadder(
            parsed.variants.enumerated().map { index, variant in
                LadderRung(
                    id: index,
                    peakBitrate: Int(clamping: variant.peakBitRate),
                    averageBitrate: variant.averageBitRate.map { Int(clamping: $0) },
                    width: variant.resolution?.width ?? 0,
                    height: variant.resolution?.height ?? 0
                )
            }
        )
        for rendition in parsed.renditions { renditions[rendition.id] = RenditionState(rendition, parsed, now: now) }
        live.updateAt = parsed.live?.updatePeriod.map { now.instant.advanced(by: .nanoseconds($0)) }
        var info = MediaInfo()
        info.duration = parsed.duration
        session.manifestLoaded(info, now: now.instant)
        for notice in parsed.notices { warn(.notSupported, notice.message, parsed.url, &session, now: now.instant) }
    }

    private mutating func accept(
        playlist response: ResourceResponse,
        of id: Rendition.ID,
        _ session: inout PlaybackSession,
        now: Timestamp
    ) throws(ResourceFailure) {
        guard var state = renditions[id] else { return }
        try parse { () throws(ManifestError) in try state.update(with: response, reference: reference(for: id), now: now) }
        renditions[id] = state
        if let index = state.index, index.isComplete {
            presentation?.kind = .onDemand
            presentation?.duration = max(presentation?.duration ?? 0, index.end)
            session.learn(duration: presentation?.duration)
        } else if state.isLive {
            presentation?.kind = .live
        }
        for notice in state.takeNotices() { warn(.notSupported, notice.message, response.url, &session, now: now.instant) }
    }

    private mutating func accept(
        index response: ResourceResponse,
        _ request: ResourceRequest,
        of id: Rendition.ID
    ) throws(ResourceFailure) {
        guard var state = renditions[id] else { return }
        let bytes = try part(of: response, request.range)
        try parse { () throws(ManifestError) in try state.update(withIndex: bytes) }
        renditions[id] = state
    }

    private mutating func accept(initialization response: ResourceResponse, _ request: ResourceRequest, _ role: StreamRole) {
        guard let segment = tracks[role]?.plan?.segment?.initialization else { return }
        let bytes = (try? part(of: response, request.range)) ?? response.bytes
        store.keep(bytes, of: segment)
    }

    private mutating func accept(key response: ResourceResponse, _ role: StreamRole) throws(ResourceFailure) {
        guard let url = tracks[role]?.plan?.segment?.encryption?.keyURL else { return }
        guard response.bytes.count == 16 else {
            let message = "a key has 16 bytes, and \(response.bytes.count) came; does the key need a login?"
            throw ResourceFailure(failure: .connection, message: message, isFinal: true)
        }
        store.keep(key: response.bytes, at: url)
    }

    /// Of a file that was sent whole though a part was asked for: the part.
    func part(of response: ResourceResponse, _ range: Range<Int64>?) throws(ResourceFailure) -> [UInt8] {
        guard let range, response.status == 200 else { return response.bytes }
        guard range.lowerBound >= 0, range.upperBound <= Int64(response.bytes.count) else {
            let message = "the part \(range.lowerBound)–\(range.upperBound - 1) lies outside of what was sent"
            throw ResourceFailure(failure: .connection, message: message, isFinal: true)
        }
        return Array(response.bytes[Int(range.lowerBound)..<Int(range.upperBound)])
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
