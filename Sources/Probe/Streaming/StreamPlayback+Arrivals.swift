internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

// Resources that arrive.
extension StreamPlayback {
    /// A resource has arrived completely.
    mutating func arrived(_ response: ResourceResponse, _ fetching: Fetching, _ now: Timestamp) {
        do throws(ResourceFailure) {
            switch fetching.purpose {
            case .manifest:
                guard case .presentation(let parsed)? = try response.parsed() else { break }
                apply(try manifest.take(parsed, begun: fetching.begun), now)
            case .playlist(let id):
                guard case .playlist(let parsed)? = try response.parsed() else { break }
                let effects = try manifest.take(
                    parsed,
                    of: id,
                    at: response.url,
                    isNumberedAlike: id != tracks[.audio]?.plan?.rendition,
                    begun: fetching.begun
                )
                apply(effects, now)
            case .index(let id):
                let bytes = try response.part(fetching.request.range)
                try manifest.take(indexBytes: bytes, of: id, begun: fetching.begun)
            case .initialization(let role):
                guard let section = tracks[role]?.plan?.segment?.initialization else { break }
                store.keep(try response.part(fetching.request.range), of: section)
            case .key(let role): try arrived(key: response, role)
            case .segment(let role): try arrived(segment: response, fetching, role, now)
            }
            fetches.forgetRetry(fetching.purpose)
        } catch {
            failed(fetching, error, now)
        }
    }

    private mutating func arrived(key response: ResourceResponse, _ role: StreamRole) throws(ResourceFailure) {
        guard let url = tracks[role]?.plan?.segment?.encryption?.keyURL else { return }
        guard response.bytes.count == 16 else {
            throw .wrongContent(
                "a key must have 16 bytes (found \(response.bytes.count)); check whether its address requires a login"
            )
        }
        store.keep(key: response.bytes, at: url)
    }

    private mutating func arrived(
        segment response: ResourceResponse,
        _ fetching: Fetching,
        _ role: StreamRole,
        _ now: Timestamp
    ) throws(ResourceFailure) {
        guard let delivery = delivery(role) else { return }
        let (segment, plan, arrivals) = (delivery.segment, delivery.plan, response.arrivals)
        if fetching.request.range != nil, response.status == 200 {
            let message = "the server sent the whole file where a byte range was requested"
            apply(.warned(StreamWarning(.rangeIgnored, message, segment.url)), now)
        }
        choice.learn(from: arrivals, begun: fetching.begun)
        let content = try store.open(
            response,
            fetching.request.range,
            of: segment,
            inspecting: feed.needsInspection(plan.rendition)
        )
        if role == .audio, content.audio == nil {
            throw .wrongContent("the segment of an audio rendition has no audio track; check the packager")
        }
        session.received(bytes: content.size)
        apply(feed.take(content, arrivals, isWhole: true, delivery, view(now)), now)
        let isFirst = tracks[role]?.rendition != plan.rendition
        let check = SegmentCheck(content, segment, manifest.variant(at: plan.rung), isFirst: isFirst)
        for finding in check.findings {
            apply(.warned(StreamWarning(finding.kind, finding.message, segment.url)), now)
        }
        tracks[role]?.finish(segment, end: feed.finish(content, delivery))
        guard role == .main else { return }
        let end = arrivals.last ?? now.instant
        observe(.downloaded(SegmentDownload(segment, plan.rung, fetching, arrivals, isWhole: true, until: end)), now)
    }

    /// Takes the parts of running segment requests, where they matter.
    mutating func takeParts(_ now: Timestamp) {
        guard !isOver, let isStarving = feed.urgency(view(now)) else { return }
        for fetching in fetches.segments {
            guard let role = fetching.purpose.role, let delivery = delivery(role) else { continue }
            let count = fetching.buffer.count
            guard feed.takePart(of: count, role, delivery.plan, isStarving: isStarving) else { continue }
            let (bytes, arrivals) = fetching.buffer.snapshot()
            guard let content = store.open(part: bytes, of: delivery.segment) else { continue }
            apply(feed.take(content, arrivals, isWhole: false, delivery, view(now)), now)
        }
    }

    private func delivery(_ role: StreamRole) -> MediaFeed.Delivery? {
        guard let plan = tracks[role]?.plan, let segment = plan.segment else { return nil }
        return MediaFeed.Delivery(
            role: role,
            plan: plan,
            segment: segment,
            roles: Set(tracks.keys),
            variant: tracks[.main]?.plan.flatMap { manifest.variant(at: $0.rung) },
            language: tracks[.audio]?.plan.flatMap { manifest.presentation?.rendition($0.rendition)?.language }
        )
    }
}

extension ResourceResponse {
    /// What the engine has parsed of a manifest or playlist.
    fileprivate func parsed() throws(ResourceFailure) -> ManifestReading? {
        do throws(ManifestError) {
            return try reading?.get()
        } catch {
            throw ResourceFailure(error)
        }
    }
}

extension SegmentDownload {
    /// - Parameter isWhole: whether the download is complete, so that its total is known.
    init(
        _ segment: MediaSegment,
        _ rung: Int,
        _ fetching: Fetching,
        _ arrivals: ArrivalLog,
        isWhole: Bool,
        until end: MonotonicInstant
    ) {
        self.init(
            rung: rung,
            duration: .nanoseconds(segment.duration),
            receivedBytes: Int64(arrivals.count),
            totalBytes: isWhole ? Int64(arrivals.count) : segment.byteRange?.length,
            elapsed: fetching.begun.duration(to: end),
            timeToFirstByte: arrivals.first.map { fetching.begun.duration(to: $0) }
        )
    }
}
