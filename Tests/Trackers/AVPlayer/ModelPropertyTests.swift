import Instrument
import InstrumentTestKit
import Testing

@testable import InstrumentAVPlayer

@Suite("AVPlayer's observations in any order")
struct ModelPropertyTests {
    private func random(_ generator: inout SeededGenerator) -> AVPlayerObservation {
        let item = ItemID(number: .random(in: 1...3, using: &generator))
        let odd =
            [0, 1, 1.5, -1, 0.3, 12, 59.8, 60, 1e12, -1e300, .nan, .infinity].randomElement(using: &generator) ?? 0
        let isTrue = Bool.random(using: &generator)
        let failure = PlayerFailure(domain: "D", code: .random(in: 0...2, using: &generator))
        switch Int.random(in: 0...30, using: &generator) {
        case 0: return .item(isTrue ? ItemFacts(id: item, isUnderWay: odd == 1) : nil)
        case 1, 2: return .timeControl(.playing)
        case 3: return .timeControl(.paused)
        case 4:
            return .timeControl(
                .waiting(
                    [nil, .toMinimizeStalls, .interstitialEvent, .coordinatedPlayback, .noItemToPlay]
                        .randomElement(using: &generator) ?? nil
                )
            )
        case 5: return .rate(isTrue ? 1 : 0)
        case 6: return .rate(odd)
        case 7: return .timeJumped(item, to: odd)
        case 8: return .playedToEnd(item)
        case 9: return .failedToPlayToEnd(item, failure)
        case 10: return .itemFailed(item, failure)
        case 11: return .playerFailed(failure)
        case 12: return .stalled(item)
        case 13: return .duration(item, odd)
        case 14: return .presentationSize(item, width: odd, height: odd)
        case 15: return .variant(item, VariantFacts(peakBitrate: odd, averageBitrate: odd, framesPerSecond: odd))
        case 16:
            return .accessLog(
                item,
                [AccessLogEntry(indicatedBitrate: odd, droppedFrameCount: Int.random(in: -2...9, using: &generator))]
            )
        case 17: return .errorLog(item, isTrue ? [failure] : [])
        case 18: return .likelyToKeepUp(item, isTrue)
        case 19: return .externalPlayback(isTrue)
        case 20: return .advancesAtEnd(isTrue)
        case 22: return .rateChangeReason(.audioSessionInterrupted, rate: odd)
        case 23: return .seekCompleted(item)
        case 24, 25:
            let window = SeekableWindow(start: odd - 30, end: isTrue ? odd : odd + 5, keepsOffset: isTrue)
            return .seekableWindow(item, window)
        case 26: return .firstLikelyToKeepUp(item, after: odd)
        case 27:
            let request = MediaRequestFacts(kind: .segment, time: odd, timeToFirstByte: odd, byteCount: isTrue ? -1 : 7)
            return .request(item, request)
        case 28: return .outputObscured(isTrue)
        case 29: return isTrue ? .interstitialSkipped("\(item.number)") : .interstitialFailed("1", failure)
        case 21: return isTrue ? .volume(odd) : .muted(odd == 1)
        default: return .time(odd)
        }
    }

    /// A session of random observations, with a clock that runs between some of them, and some instants in disorder.
    private func session(_ seed: UInt64, _ count: Int) -> ModelStage {
        var generator = SeededGenerator(seed: seed)
        var stage = ModelStage([.see(.item(ItemFacts(id: first))), .see(.duration(first, 60))])
        for _ in 0..<count {
            switch Int.random(in: 0...9, using: &generator) {
            case 0...2: stage.play(.run(1, at: [1, 1.5, -1].randomElement(using: &generator) ?? 1))
            case 3: stage.now = stage.now.advanced(by: .seconds(Int.random(in: -2...20, using: &generator)))
            case 4: stage.signals += stage.model.stop(at: stage.now)
            default: stage.play(.see(random(&generator)))
            }
        }
        return stage
    }

    @Test("Signals alternate as a hub expects them, for any order of observations", arguments: 0..<300)
    func alternation(seed: UInt64) {
        var open: Set<Action> = []
        var (hasLoaded, hasStarted) = (false, false)
        let ends: [Action: Action] = [.bufferFinish: .bufferBegin, .seekFinish: .seekBegin, .pauseFinish: .pauseBegin]
        for signal in session(seed, 200).signals {
            switch signal.action {
            case .streamLoad:
                #expect(open.isEmpty && !hasStarted)
                hasLoaded = true
            case .start:
                #expect(hasLoaded && !hasStarted && open.isEmpty)
                hasStarted = true
            case .pauseBegin, .seekBegin:
                #expect(hasStarted && open.insert(signal.action).inserted)
            case .bufferBegin:
                #expect(hasLoaded && open.insert(signal.action).inserted && open.count == 1)
            case .bufferFinish, .seekFinish, .pauseFinish:
                #expect(ends[signal.action].map { open.remove($0) } != nil)
            case .end, .stop, .next:
                #expect(hasStarted && open.isEmpty)
                (hasLoaded, hasStarted) = (false, false)
            case .error:
                if signal.attributes[.isFatal] == true, hasLoaded {
                    #expect(open.isEmpty)
                    (hasLoaded, hasStarted) = (false, false)
                }
            case .qualityChangeUp, .qualityChangeDown, .volumeChange: #expect(hasStarted)
            case .requestFinish: break
            default: Issue.record("\(signal.action) is not the model's")
            }
        }
    }

    @Test("Instants never decrease and attributes are in range, for any observations", arguments: 0..<200)
    func values(seed: UInt64) {
        var last = MonotonicInstant(nanoseconds: .min)
        for signal in session(seed, 200).signals {
            #expect(signal.instant.map { $0 >= last } == true)
            last = signal.instant ?? last
            let status = signal.status ?? PlayerStatus()
            #expect(status.position.map { $0 >= .zero } != false)
            #expect(status.duration.map { $0 >= .zero } != false)
            #expect(status.volume.map { (0...100).contains($0) } != false)
            #expect(status.bitrate.map { $0 > 0 } != false)
            #expect(status.framesPerSecond.map { $0.isFinite && $0 > 0 } != false)
            #expect(status.resolutionWidth.map { $0 > 0 } != false)
            #expect(signal.attributes[.droppedFrames].map { $0 >= 0 } != false)
            for key: AttributeKey<Duration> in [.liveLatency, .dvrWindow, .requestTime, .timeToLikelyToKeepUp] {
                #expect(signal.attributes[key].map { $0 >= .zero } != false)
            }
        }
    }

    /// A load that was given up before its start is the one thing that the data model has no action for.
    @Test("The core hub accepts every signal but the load after a load that never started", arguments: 0..<150)
    func hub(seed: UInt64) async {
        let player = ScriptedPlayer()
        let rejected = Lock<[String]>([])
        let instrument = Instrument(hub: CoreHub(), metricalc: CoreMetricalc(), clock: VirtualClock()) { diagnostic in
            if diagnostic.kind == .rejected, let action = diagnostic.action {
                rejected.withLock { $0.append(action.name) }
            }
        }
        instrument.add(PlayerTracker(player))
        instrument.ready()
        var (hasLoaded, givenUp) = (false, 0)
        for signal in session(seed, 150).signals {
            switch signal.action {
            case .streamLoad:
                if hasLoaded { givenUp += 1 }
                hasLoaded = true
            case .end, .stop, .next: hasLoaded = false
            case .error: if signal.attributes[.isFatal] == true { hasLoaded = false }
            default: break
            }
            player.signal(signal.action, at: signal.instant, attributes: signal.attributes)
        }
        #expect(rejected.withLock { $0 } == Array(repeating: "StreamLoad", count: givenUp))
    }

    @Test(
        "The signals of interstitials are legal for the ads hub, for any order of observations",
        arguments: 0..<200
    )
    func interstitials(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var model = InterstitialModel()
        var order = AdOrder()
        var (now, position) = (MonotonicInstant(nanoseconds: 0), 0.0)
        for _ in 0..<200 {
            switch Int.random(in: 0...9, using: &generator) {
            case 0:
                let event = InterstitialFacts(identifier: "\(Int.random(in: 0...2, using: &generator))", roll: .mid)
                order.take(model.observe(.interstitialEvent(.random(using: &generator) ? event : nil), at: now))
            case 1...4:
                for _ in 0..<8 {
                    now = now.advanced(by: .milliseconds(250))
                    position += 0.25
                    order.take(model.observe(.time(position), at: now))
                }
            default: order.take(model.observe(random(&generator), at: now))
            }
        }
        #expect(order.faults == [])
    }
}

/// The ads table of the data model, computed a second time.
struct AdOrder {
    private var (isInBreak, isInAd, isPaused, isBuffering, quartiles) = (false, false, false, false, 0)
    private(set) var faults: [String] = []

    mutating func take(_ signals: [AdPlayerSignal]) {
        for signal in signals where !isLegal(signal.action) { faults.append(signal.action.name) }
    }

    private mutating func isLegal(_ action: Action) -> Bool {
        switch action {
        case .adBreakBegin:
            defer { isInBreak = true }
            return !isInBreak
        case .adBreakFinish:
            defer { isInBreak = false }
            return isInBreak && !isInAd
        case .adBegin:
            defer { (isInAd, isPaused, isBuffering, quartiles) = (true, false, false, 0) }
            return isInBreak && !isInAd
        case .adFinish:
            defer { isInAd = false }
            return isInAd && !isPaused && !isBuffering
        case .adSkip: return isInAd
        case .adPauseBegin:
            defer { isPaused = true }
            return isInAd && !isPaused
        case .adPauseFinish:
            defer { isPaused = false }
            return isInAd && isPaused
        case .adBufferBegin:
            defer { isBuffering = true }
            return isInAd && !isBuffering
        case .adBufferFinish:
            defer { isBuffering = false }
            return isInAd && isBuffering
        case .adFirstQuartile, .adSecondQuartile, .adThirdQuartile:
            quartiles += 1
            return isInAd && action == [.adFirstQuartile, .adSecondQuartile, .adThirdQuartile][min(quartiles - 1, 2)]
                && quartiles <= 3
        case .adClick, .adError: return true
        default: return false
        }
    }
}
