internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

// Resources that arrive.
extension StreamPlayback {
    /// Handles a resource that has arrived completely.
    mutating func arrived(_ response: ResourceResponse, _ fetching: Fetching, _ now: Timestamp) {
        do throws(ResourceFailure) {
            switch fetching.purpose {
            case .manifest: try take(try response.parsed(), of: response, fetching, now)
            case .element:
                let reading = try? response.parsed()
                manifest.elements.take(.success(response), limits: ManifestLimits())
                elementsChanged(reading, now)
            case .patch:
                guard case .presentation(let parsed)? = try response.parsed() else { break }
                apply(try manifest.take(parsed, begun: fetching.begun), now)
                readAds(of: parsed, now)
            case .clock:
                guard case .synchronized(let parsed, let offset)? = try response.parsed() else { break }
                apply(try manifest.take(clockOffset: offset, parsed), now)
                readAds(of: parsed, now)
            case .steering:
                guard case .steering(let order)? = try response.parsed() else { break }
                take(order, now)
            case .playlist(let id):
                guard case .playlist(let parsed)? = try response.parsed() else { break }
                let effects = try manifest.take(
                    parsed,
                    of: id,
                    at: response.url,
                    isNumberedAlike: manifest.isMain(id),
                    begun: fetching.begun,
                    received: response.arrivals.first
                )
                apply(effects, now)
                works(onPlaylistOf: id, now)
                if case .media(let playlist) = parsed { readAds(of: playlist, id, now) }
            case .index(let id):
                let bytes = try response.start(of: fetching.request.range).array
                try manifest.take(indexBytes: bytes, of: id, begun: fetching.begun)
            case .initialization(let role):
                guard let plan = plan(of: role), let section = plan.segment?.initialization else { break }
                let bytes = try store.plain(response, fetching.request.range, of: section)
                store.keep(bytes, of: section, for: role, freshUntil: now.instant.advanced(by: response.freshness))
                if let segment = plan.segment, role != .subtitles {
                    if refuses(initialization: bytes, of: segment, role, now) { break }
                    askLicence(for: segment, now)
                }
                let arrival = response.arrivals.last ?? now.instant
                let work = profile.processing.initialization
                if work > .zero { tracks[role]?.works(until: arrival.advanced(by: work)) }
                initialized(plan, role, at: arrival, now)
            case .key: try arrived(key: response, fetching)
            case .licence: try arrived(licence: response, now)
            case .hint: hints.arrived(response, fetching)
            case .segment(.subtitles): try arrived(subtitles: response, fetching, now)
            case .segment(let role):
                if let plan = tracks[role]?.plan, let segment = plan.segment,
                    !store.isReady(for: segment) || licence.withholds(segment)
                {
                    held.hold(response, fetching, role, plan)
                } else if role == .main, isInspecting, let segment = tracks[role]?.plan?.segment {
                    session.received(bytes: response.body.count)
                    inspection.arrived(response, fetching, of: segment)
                    tracks[role]?.endInspection()
                } else {
                    try arrived(segment: response, fetching, role, now)
                }
            }
            fetches.forgetRetry(fetching.purpose)
        } catch {
            failed(fetching, error, now)
        }
    }

    /// Takes an MPD or a playlist, or waits for what it needs first.
    mutating func take(
        _ reading: ManifestReading?,
        of response: ResourceResponse,
        _ fetching: Fetching,
        _ now: Timestamp
    ) throws(ResourceFailure) {
        switch reading {
        case .incomplete(let missing)?:
            if let ask = manifest.elements.hold(response, fetching, missing) { apply(ask, now) }
        case .presentation(let parsed)?:
            if let ask = manifest.askClock(for: parsed, response, fetching) {
                apply(ask, now)
            } else {
                apply(try manifest.take(parsed, begun: fetching.begun), now)
                readAds(of: parsed, now)
            }
        default: break
        }
    }

    /// Continues with the MPD that waits for its elements, once none is missing.
    ///
    /// - Parameter reading: the MPD with all elements, if it was parsed already.
    mutating func elementsChanged(_ reading: ManifestReading?, _ now: Timestamp) {
        if let next = manifest.elements.next { return apply(next, now) }
        guard let waiting = manifest.elements.waiting else { return }
        do throws(ResourceFailure) {
            let reading = if let reading { reading } else { try ManifestReading(waiting, manifest, now.wallTime) }
            if case .incomplete(let missing) = reading, let next = manifest.elements.wait(for: missing) {
                return apply(next, now)
            }
            manifest.elements.finish()
            if case .incomplete = reading {
                throw .wrongContent("elements of the MPD refer to each other endlessly (xlink); correct the server")
            }
            try take(reading, of: waiting.response, waiting.fetching, now)
        } catch {
            manifest.elements.finish()
            failed(waiting.fetching, error, now)
        }
    }

    /// Checks an initialization section.
    ///
    /// - Returns: whether the profile's player fails because of it, so that nothing more is loaded.
    private mutating func refuses(
        initialization bytes: [UInt8],
        of segment: MediaSegment,
        _ role: StreamRole,
        _ now: Timestamp
    )
        -> Bool
    {
        guard role != .subtitles, let plan = plan(of: role) else { return false }
        apply(acceptance(of: plan.rendition).effects(ofInitialization: bytes, of: segment), now)
        return isOver
    }

    /// Checks the first segment of a rendition.
    ///
    /// - Returns: whether the profile's player fails because of it, so that nothing more is loaded.
    private mutating func refuses(
        segment media: [UInt8],
        _ content: SegmentContent,
        _ delivery: MediaFeed.Delivery,
        _ now: Timestamp
    ) -> Bool {
        let section = delivery.segment.initialization.flatMap { store.bytes(of: $0) }
        let check = acceptance(of: delivery.plan.rendition)
        apply(check.effects(ofMedia: media, content, of: delivery.segment, section: section), now)
        return isOver
    }

    private func acceptance(of id: Rendition.ID) -> AcceptanceCheck {
        let declared = manifest.presentation?.declaredCodecs(of: id) ?? []
        return AcceptanceCheck(source: source, acceptance: profile.acceptance, declaredCodecs: declared)
    }

    /// Continues with a segment that was requested with its initialization section, once the section is there.
    private mutating func initialized(
        _ plan: TrackLoading.Plan,
        _ role: StreamRole,
        at arrival: MonotonicInstant,
        _ now: Timestamp
    ) {
        guard profile.initializationLoading == .withSegment, role != .subtitles else { return }
        if let segment = held.sectionArrived(at: arrival, role, plan) {
            arrived(segment.response, segment.fetching, now)
        } else {
            takeParts(now)
        }
    }

    /// Continues with a segment whose initialization section has arrived for another track.
    mutating func takeHeld(_ role: StreamRole, _ now: Timestamp) {
        guard let plan = tracks[role]?.plan, plan.segment.map(licence.withholds) != true,
            let segment = held.take(role, plan)
        else { return }
        arrived(segment.response, segment.fetching, now)
    }

    private mutating func arrived(key response: ResourceResponse, _ fetching: Fetching) throws(ResourceFailure) {
        if let defect = ManifestContent.keyDefect(of: response.bytes) {
            throw .wrongContent(
                "a key must have 16 bytes (found \(defect)); check its address, and whether it requires a login"
            )
        }
        store.keep(key: response.bytes, at: fetching.request.url)
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
        let age = fetching.begun.duration(to: now.instant).nanoseconds
        let isProduced = segment.completion.map { $0 > now.wallTime.advanced(nanoseconds: -age) } ?? false
        let wasInspected = inspection.owns(fetching.number)
        let isFragment = segment.initialization != nil
        let work = profile.processing.work(isFragment: isFragment, bytes: arrivals.count)
        var reading: Duration?
        if !wasInspected, tracks[role]?.segmentCount == 0 {
            reading = firstMedia.arrived(role, work: work, at: arrivals.last ?? now.instant)
        }
        if !wasInspected {
            let sampled = profile.processing.sampledWork(isFragment: isFragment, bytes: arrivals.count)
            choice.learn(
                from: arrivals,
                of: role,
                number: fetching.number,
                begun: fetching.transferBegun,
                beside: otherTransfers(than: fetching),
                isProduced: isProduced,
                processing: role == .main ? max(reading ?? .zero, sampled) : .zero
            )
        }
        if role == .main, !wasInspected, drops(segment, plan, fetching, arrivals, now) {
            return session.received(bytes: response.body.count)
        }
        let isInspected = feed.needsInspection(plan.rendition)
        let content = try store.open(
            response,
            fetching.request.range,
            of: segment,
            inspecting: isInspected,
            request: fetching.number
        )
        if role == .audio, content.audio == nil {
            throw .wrongContent("the segment of an audio rendition has no audio track; check the packager")
        }
        if !wasInspected { session.received(bytes: content.size) }
        if isInspected {
            let media = try store.plain(response, fetching.request.range, of: segment)
            if refuses(segment: media.array, content, delivery, now) { return }
        }
        let playable = licence.playable(held.playable(fetching.playable(arrivals), of: role, plan), of: segment)
        apply(feed.take(content, playable, isWhole: true, delivery, view(now)), now)
        let isFirst = tracks[role]?.rendition != plan.rendition
        let check = SegmentCheck(content, segment, manifest.variant(at: plan.rung), isFirst: isFirst)
        for finding in check.findings {
            apply(.warned(StreamWarning(finding.kind, finding.message, segment.url)), now)
        }
        let isReplacement = tracks[role]?.hasMedia(of: segment) ?? false
        // The signals of media that is replaced were read before.
        if role == .main, !isReplacement {
            readSignals(of: response, fetching.request.range, content, delivery, now)
        }
        tracks[role]?.finish(segment, end: feed.finish(content, delivery))
        if role == .main {
            failureCount.forget(plan.rung)
            measured.add(segment, of: plan.rendition, bytes: content.size)
        }
        let position = position(at: now)
        tracks[role]?.leaveBehind(position)
        let end = arrivals.last ?? now.instant
        works(on: segment, role, since: end, for: work, firstFor: reading)
        guard role == .main else { return }
        var download = SegmentDownload(segment, plan.rung, fetching, arrivals, isWhole: true, until: end)
        download.isReplacement = isReplacement
        observe(.downloaded(download), now)
    }

    /// The player works on a segment before it requests the next one of the track.
    ///
    /// - Parameters:
    ///   - work: the time that it works on any segment like this one.
    ///   - reading: the time that it reads the first segment of the track; nil for later ones.
    private mutating func works(
        on segment: MediaSegment,
        _ role: StreamRole,
        since arrival: MonotonicInstant,
        for work: Duration,
        firstFor reading: Duration?
    ) {
        if role == .main, let reading, liveAudioAwaitsPictures {
            tracks[.audio]?.works(until: arrival.advanced(by: reading))
        }
        // The parts of a segment follow one another at once.
        guard segment.part == nil else { return }
        let processing = role == .main ? max(work, reading ?? .zero) : work
        if processing > .zero { tracks[role]?.works(until: arrival.advanced(by: processing)) }
        if reading != nil, let appended = firstMedia.appended, !isLive {
            for role in StreamRole.media { tracks[role]?.works(until: appended) }
        }
    }

    /// The player works on a playlist before it requests the segments that waited for it.
    private mutating func works(onPlaylistOf id: Rendition.ID, _ now: Timestamp) {
        let processing = profile.processing.mediaPlaylist
        guard processing > .zero else { return }
        for role in StreamRole.media where !fetches.isBusy(role) && tracks[role]?.plan?.rendition == id {
            tracks[role]?.works(until: now.instant.advanced(by: processing))
        }
    }

    /// Whether the player drops a segment that has just come, because its last bytes brought the decision for another
    /// rung; then the plan is to fetch it there.
    private mutating func drops(
        _ segment: MediaSegment,
        _ plan: TrackLoading.Plan,
        _ fetching: Fetching,
        _ arrivals: ArrivalLog,
        _ now: Timestamp
    ) -> Bool {
        guard profile.sampling.decidesWithLastBytes, var context = adaptationContext(now) else { return false }
        let end = arrivals.last ?? now.instant
        let download = SegmentDownload(segment, plan.rung, fetching, arrivals, isWhole: true, until: end)
        context.currentRung = plan.rung
        guard let rung = choice.replacement(of: download, in: context), let variant = manifest.variant(at: rung) else {
            return false
        }
        apply(.cancelFetches(.main), now)
        tracks[.main]?.choose(rung: rung, rendition: variant.main)
        return true
    }

    /// The downloads of segments that run beside one, for profiles that measure all together.
    private func otherTransfers(than fetching: Fetching) -> [LinkMeter.Transfer] {
        guard profile.sampling.comparesDownloads else { return [] }
        return fetches.segments.filter { $0.number != fetching.number }.map {
            LinkMeter.Transfer(number: $0.number, begun: $0.transferBegun, arrivals: $0.buffer.arrivals)
        }
    }

    /// Takes the arrived parts of running segment requests, if they matter.
    mutating func takeParts(_ now: Timestamp) {
        guard !isOver, let isStarving = feed.urgency(view(now)) else { return }
        for fetching in fetches.segments {
            guard let role = fetching.purpose.role, let delivery = delivery(role),
                store.isReady(for: delivery.segment), !licence.withholds(delivery.segment)
            else { continue }
            let count = fetching.buffer.count
            guard feed.takePart(of: count, role, delivery.plan, isStarving: isStarving) else { continue }
            let (bytes, arrivals) = fetching.buffer.snapshot()
            let content = store.open(part: bytes, of: delivery.segment, request: fetching.number)
            guard let content else { continue }
            let playable = held.playable(fetching.playable(arrivals), of: role, delivery.plan)
            let permitted = licence.playable(playable, of: delivery.segment)
            apply(feed.take(content, permitted, isWhole: false, delivery, view(now)), now)
        }
    }

    private func delivery(_ role: StreamRole) -> MediaFeed.Delivery? {
        guard role != .main || !isInspecting, let plan = tracks[role]?.plan, let segment = plan.segment else {
            return nil
        }
        return MediaFeed.Delivery(
            role: role,
            plan: plan,
            segment: segment,
            roles: Set(tracks.roles),
            variant: tracks[.main]?.plan.flatMap { manifest.variant(at: $0.rung) },
            language: tracks[.audio]?.plan.flatMap { manifest.presentation?.rendition($0.rendition)?.language }
        )
    }
}

extension ManifestReading {
    /// Parses the MPD that waits for its elements.
    fileprivate init(
        _ waiting: ElementLoading.Waiting,
        _ manifest: ManifestLoading,
        _ now: WallTime
    ) throws(ResourceFailure) {
        do throws(ManifestError) {
            self = try ManifestReading(
                waiting.response,
                requestedAs: waiting.fetching.request.url,
                remote: manifest.elements.remote,
                now: now,
                clockOffset: manifest.clock.offset ?? 0
            )
        } catch {
            throw ResourceFailure(error)
        }
    }
}

extension ResourceResponse {
    /// The manifest or playlist that the engine has parsed.
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
        let begun = fetching.transferBegun
        let expected = fetching.buffer.announcedCount.map(Int64.init) ?? segment.byteRange?.length
        self.init(
            rung: rung,
            duration: .nanoseconds(segment.duration),
            receivedBytes: Int64(arrivals.count),
            firstBytes: Int64(arrivals.firstCount),
            totalBytes: isWhole ? Int64(arrivals.count) : expected,
            elapsed: begun.duration(to: end),
            timeToFirstByte: arrivals.first.map { begun.duration(to: $0) },
            timeToLastByte: arrivals.last.map { begun.duration(to: $0) }
        )
    }
}
