internal import Instrument

/// The state of one simulation.
struct SimulationRun {
    private let media: SegmentedMedia
    private let trace: BandwidthTrace
    private let profile: PlayerProfile
    private let checkInterval: Int64
    private let pieceDuration: Int64
    private var rule: any AdaptationRule
    private var model: PlaybackModel
    private var throughput = ThroughputHistory()
    private var currentRung: Int?
    /// The time up to which the simulation has run.
    private var now: Int64 = 0
    /// The start of the next segment in the media.
    private var position: Int64 = 0
    private var playhead = AdaptationContext.Playhead.starting
    private var stallStart: (instant: Int64, position: Int64)?
    private var result = AdaptationResult()
    /// Limits the waits of a rule that requests one wait after another.
    private static let mostWaits = 1000
    /// Limits the decisions about a download that takes years: an hour at one decision per 100 ms.
    private static let mostChecks = 36_000

    init(_ simulation: AdaptationSimulation) {
        media = simulation.media
        trace = simulation.trace
        profile = simulation.profile
        checkInterval = simulation.checkInterval.nanoseconds
        pieceDuration = simulation.pieceDuration.nanoseconds
        rule = simulation.profile.rule
        model = PlaybackModel(tracks: [.video], policy: profile.buffer, now: MonotonicInstant(nanoseconds: 0))
    }

    /// Fetches the next segment, after the waits of player and rule.
    mutating func fetch(_ index: Int) {
        waitForRoom(bitrate: media.ladder[currentRung ?? 0].peakBitrate)
        var (rung, hasWaited) = decide(index)
        var waits = 1
        while hasWaited, waits < Self.mostWaits {
            (rung, hasWaited) = decide(index)
            waits += 1
        }
        rung = media.ladder.clamped(rung)
        let level = model.level(at: instant)
        let requested = now
        var given = 0
        while let lower = download(index, rung) {
            given += 1
            rung = lower
        }
        position = position.saturatingAdd(media.segments[index].duration.nanoseconds)
        let record = AdaptationResult.Segment(
            index: index,
            rung: rung,
            bitrate: media.ladder[rung].peakBitrate,
            bytes: media.segments[index].sizes[rung],
            duration: media.segments[index].duration,
            requested: .nanoseconds(requested),
            arrived: .nanoseconds(now),
            levelBefore: .nanoseconds(level),
            levelAfter: .nanoseconds(model.level(at: instant)),
            abandonedDownloads: given
        )
        result.segments.append(record)
        currentRung = rung
    }

    /// Plays the rest of the buffer.
    mutating func finish() -> AdaptationResult {
        model.reachedEnd(now: instant)
        take(model.advance(to: instant))
        now = max(now, model.nextDeadline(after: instant)?.nanoseconds ?? now)
        take(model.advance(to: instant))
        result.totalTime = .nanoseconds(now)
        return result
    }

    private var instant: MonotonicInstant { MonotonicInstant(nanoseconds: now) }
}

// MARK: Waiting and deciding
extension SimulationRun {
    /// Waits until the buffer level has fallen to the maximum. Only a moving playhead lowers the level.
    private mutating func waitForRoom(bitrate: Int) {
        let excess = model.level(at: instant) - profile.maximumBuffer(bitrate: bitrate).nanoseconds
        guard excess > 0, playhead == .playing else { return }
        advance(to: now.saturatingAdd(excess))
        rule.observe(.idled(.nanoseconds(excess)), in: context(min(result.segments.count, media.segments.count - 1)))
    }

    /// Returns the rung, and whether there was a wait, after which the rule decides again.
    private mutating func decide(_ index: Int) -> (rung: Int, hasWaited: Bool) {
        let context = context(index)
        if index == 0, let first = profile.firstRung(firstListed: 0, in: context) { return (first, false) }
        let decision = rule.decide(in: context)
        if let wait = decision.waitUntilBuffered, playhead == .playing {
            let excess = model.level(at: instant) - max(wait, .zero).nanoseconds
            if excess > 0 {
                advance(to: now.saturatingAdd(excess))
                return (decision.rung, true)
            }
        }
        return (decision.rung, false)
    }

    private func context(_ index: Int) -> AdaptationContext {
        AdaptationContext(
            ladder: media.ladder,
            currentRung: currentRung,
            bufferLevel: .nanoseconds(model.level(at: instant)),
            buffer: profile.buffer,
            playhead: playhead,
            segment: AdaptationContext.Segment(
                index: index,
                duration: media.segments[index].duration,
                sizes: media.segments[index].sizes,
                remaining: media.segments.count - index
            ),
            throughput: throughput,
            initialEstimate: profile.initialEstimate,
            constraints: profile.constraints,
            now: instant
        )
    }
}

// MARK: Downloading
extension SimulationRun {
    /// Receives a segment; returns nil when it is complete, or the lower rung for which the rule aborted it.
    private mutating func download(_ index: Int, _ rung: Int) -> Int? {
        let segment = media.segments[index]
        let transfer = Transfer(segment.sizes[rung], requested: now, over: trace)
        var pieces = Pieces(
            of: segment.duration.nanoseconds,
            each: pieceDuration,
            isProgressive: profile.segmentUse == .progressive
        )
        var nextCheck = now.saturatingAdd(checkInterval)
        var checks = 0
        while true {
            let piece = transfer.time(ofShare: pieces.next, of: pieces.total)
            if nextCheck < piece, checks < Self.mostChecks {
                checks += 1
                advance(to: nextCheck)
                nextCheck = nextCheck.saturatingAdd(checkInterval)
                let download = progress(of: transfer, rung, segment)
                let lower = rule.abandonment(of: download, in: context(index))
                if let lower, lower >= 0, lower != rung {
                    giveUp(download, for: lower, index)
                    return lower
                }
            } else {
                advance(to: piece)
                model.append(.video, end: position.saturatingAdd(pieces.next), now: instant)
                take(model.advance(to: instant))
                if !pieces.advance() { break }
            }
        }
        remember(transfer.bytes, since: transfer)
        rule.observe(.downloaded(progress(of: transfer, rung, segment)), in: context(index))
        return nil
    }

    private func progress(of transfer: Transfer, _ rung: Int, _ segment: SegmentedMedia.Segment) -> SegmentDownload {
        SegmentDownload(
            rung: rung,
            duration: segment.duration,
            receivedBytes: transfer.bytes(until: now),
            totalBytes: transfer.bytes,
            elapsed: .nanoseconds(now - transfer.requested),
            timeToFirstByte: now >= transfer.firstByte ? .nanoseconds(transfer.firstByte - transfer.requested) : nil,
            timeToLastByte: now >= transfer.firstByte ? .nanoseconds(now - transfer.requested) : nil
        )
    }

    private mutating func giveUp(_ download: SegmentDownload, for lower: Int, _ index: Int) {
        result.abandonedDownloads += 1
        result.wastedBytes += download.receivedBytes
        if download.transferTime > .zero {
            throughput.append(
                ThroughputSample(
                    bytes: download.receivedBytes,
                    transferTime: download.transferTime,
                    timeToFirstByte: download.timeToFirstByte ?? .zero,
                    end: instant
                )
            )
        }
        rule.observe(.abandoned(download, for: lower), in: context(index))
    }

    private mutating func remember(_ bytes: Int64, since transfer: Transfer) {
        throughput.append(
            ThroughputSample(
                bytes: bytes,
                transferTime: .nanoseconds(now - transfer.firstByte),
                timeToFirstByte: .nanoseconds(transfer.firstByte - transfer.requested),
                end: instant
            )
        )
    }
}

// MARK: Playing
extension SimulationRun {
    private mutating func advance(to time: Int64) {
        now = max(now, time)
        take(model.advance(to: instant))
    }

    private mutating func take(_ transitions: [PlaybackModel.Transition]) {
        for transition in transitions {
            let time = transition.instant.nanoseconds
            switch transition.kind {
            case .started:
                result.startTime = .nanoseconds(time)
                playhead = .playing
            case .stalled:
                stallStart = (time, transition.position)
                playhead = .stalled
            case .filled(.stall):
                guard let start = stallStart else { continue }
                stallStart = nil
                playhead = .playing
                result.stalls.append(
                    AdaptationResult.Stall(
                        start: .nanoseconds(start.instant),
                        duration: .nanoseconds(time - start.instant),
                        position: .nanoseconds(start.position)
                    )
                )
            case .filled, .reached, .passed, .ended: break
            }
        }
    }
}
