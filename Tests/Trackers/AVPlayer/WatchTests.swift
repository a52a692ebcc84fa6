import Instrument
import InstrumentTestKit
import Testing

@testable import InstrumentAVPlayer

/// A player under the control of a test. Only the test advances its clock.
final class FakePlayer: ObservedPlayer {
    struct State {
        var handlers: [Int: PlayerNoticeHandler] = [:]
        var itemHandlers: [Int: (item: ItemID, handler: PlayerNoticeHandler)] = [:]
        var nextNumber = 0
        var cancelled: [Int] = []
        var present: [AVPlayerObservation] = []
        var now = MonotonicInstant(nanoseconds: 0)
        var accessLog: [AccessLogEntry] = []
        var readItems: [ItemID] = []
    }

    let state = Lock(State())

    func observePlayer(_ report: @escaping PlayerNoticeHandler) -> Observation {
        let (number, present, now) = state.withLock { state in
            state.nextNumber += 1
            state.handlers[state.nextNumber] = report
            return (state.nextNumber, state.present, state.now)
        }
        for observation in present { report(.observation(observation), now) }
        return Observation { [self] in
            state.withLock { state in
                state.handlers[number] = nil
                state.cancelled.append(number)
            }
        }
    }

    func observeItem(_ item: ItemID, _ report: @escaping PlayerNoticeHandler) -> Observation {
        let number = state.withLock { state in
            state.nextNumber += 1
            state.itemHandlers[state.nextNumber] = (item, report)
            return state.nextNumber
        }
        return Observation { [self] in
            state.withLock { state in
                state.itemHandlers[number] = nil
                state.cancelled.append(number)
            }
        }
    }

    func accessLog(of item: ItemID) -> [AccessLogEntry] {
        state.withLock { state in
            state.readItems.append(item)
            return state.accessLog
        }
    }

    func errorLog(of item: ItemID) -> [PlayerFailure] { [] }

    func show(_ observation: AVPlayerObservation) { show(.observation(observation)) }

    func show(_ notice: PlayerNotice) {
        let (handlers, now) = state.withLock { (Array($0.handlers.values), $0.now) }
        for handler in handlers { handler(notice, now) }
    }

    func run(_ seconds: Double, from position: Double = 0) {
        for step in 1...Int(seconds * 4) {
            state.withLock { $0.now = $0.now.advanced(by: .milliseconds(250)) }
            show(.time(position + Double(step) / 4))
        }
    }

    var itemsUnderObservation: [ItemID] { state.withLock { $0.itemHandlers.values.map(\.item) } }
}

/// Collects actions.
final class Heard: Sendable {
    private let actions = Lock<[String]>([])
    var all: [String] { actions.withLock { $0 } }
    func append(_ action: Action) { actions.withLock { $0.append(action.name) } }
}

@Suite("Watching a player")
struct WatchTests {
    private let player = FakePlayer()
    private let heard = Heard()
    private let reads = Lock<[@Sendable () -> Void]>([])

    private func watch() -> PlayerWatch<AVPlayerModel> {
        let reads = reads
        return PlayerWatch(player) { read in reads.withLock { $0.append(read) } }
    }

    private func listen(to watch: PlayerWatch<AVPlayerModel>) {
        let heard = heard
        watch.report { heard.append($0.action) }
    }

    private func start(_ item: ItemID = first) {
        for observation: AVPlayerObservation in [
            .item(ItemFacts(id: item)), .time(0), .rate(1), .timeControl(.playing),
        ] { player.show(observation) }
        player.run(1)
    }

    @Test("A watch observes only while it has a listener")
    func listening() {
        let watch = watch()
        start()
        #expect(player.state.withLock { $0.handlers.isEmpty })
        listen(to: watch)
        start()
        #expect(heard.all == ["StreamLoad", "Start"])
        watch.report(to: nil)
        player.show(.rate(0))
        #expect(heard.all.count == 2)
        #expect(player.state.withLock { $0.handlers.isEmpty && $0.itemHandlers.isEmpty })
    }

    @Test("Observations of an item end when another is the current one, each exactly once")
    func items() {
        let watch = watch()
        listen(to: watch)
        start()
        #expect(player.itemsUnderObservation == [first])
        player.show(.item(ItemFacts(id: second)))
        #expect(player.itemsUnderObservation == [second])
        player.show(.item(nil))
        #expect(player.itemsUnderObservation == [])
        watch.report(to: nil)
        watch.report(to: nil)
        #expect(player.state.withLock { $0.cancelled } == [2, 3, 1])
    }

    @Test("What holds when the watch begins is reported first")
    func present() {
        player.state.withLock {
            $0.present = [.rate(1), .timeControl(.playing), .item(ItemFacts(id: first, isUnderWay: true)), .time(30)]
        }
        let watch = watch()
        listen(to: watch)
        #expect(player.itemsUnderObservation == [first])
        player.run(1, from: 30)
        #expect(heard.all == ["StreamLoad", "Start"])
    }

    @Test("Observations of an earlier listening are ignored, and its observations are cancelled")
    func relistening() {
        let watch = watch()
        listen(to: watch)
        start()
        let stale = player.state.withLock { Array($0.handlers.values) }
        listen(to: watch)
        for handler in stale { handler(.observation(.item(nil)), MonotonicInstant(nanoseconds: 0)) }
        #expect(heard.all == ["StreamLoad", "Start"])
        #expect(player.state.withLock { $0.handlers.count } == 1)
    }

    @Test("Logs are read where the reader runs, for the present item and listening alone")
    func logs() {
        let watch = watch()
        listen(to: watch)
        start()
        player.state.withLock { $0.accessLog = [AccessLogEntry(indicatedBitrate: 5e6)] }
        player.show(.accessLogGrew(first))
        #expect(player.state.withLock { $0.readItems } == [])
        for read in reads.withLock({ $0 }) { read() }
        #expect(player.state.withLock { $0.readItems } == [first])
        #expect(watch.read { $0.quality.bitrate } == 5_000_000)
        watch.report(to: nil)
        for read in reads.withLock({ $0 }) { read() }
        #expect(player.state.withLock { $0.readItems } == [first])
    }

    @Test("A listener that changes the player while it is called receives what follows afterwards, in order")
    func reentrance() {
        let (watch, player, heard) = (watch(), player, heard)
        watch.report { signal in
            if signal.action == .start { player.show(.rate(0)) }
            heard.append(signal.action)
        }
        start()
        #expect(heard.all.prefix(3) == ["StreamLoad", "Start", "PauseBegin"])
    }

    @Test("A listener that ends the watch while it is called hears nothing more")
    func ending() {
        let (watch, heard) = (watch(), heard)
        watch.report { [weak watch] signal in
            heard.append(signal.action)
            if signal.action == .streamLoad { watch?.report(to: nil) }
        }
        start()
        #expect(heard.all == ["StreamLoad"])
    }

    @Test("A watch that is dropped cancels its observations")
    func dropping() {
        weak var gone: PlayerWatch<AVPlayerModel>?
        do {
            let watch = watch()
            gone = watch
            listen(to: watch)
            start()
        }
        #expect(gone == nil)
        #expect(player.state.withLock { $0.handlers.isEmpty && $0.itemHandlers.isEmpty })
    }

    @Test("Signals of several threads are delivered one at a time")
    func threads() async {
        let (watch, player) = (watch(), player)
        let (isInside, overlaps, count) = (Lock(false), Lock(0), Lock(0))
        watch.report { _ in
            if isInside.withLock({ inside in
                defer { inside = true }; return inside
            }) {
                overlaps.withLock { $0 += 1 }
            }
            count.withLock { $0 += 1 }
            isInside.withLock { $0 = false }
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    for step in 0..<50 { player.show(.item(ItemFacts(id: ItemID(number: number * 100 + step)))) }
                }
            }
        }
        #expect(overlaps.withLock { $0 } == 0)
        #expect(count.withLock { $0 } == 400)
    }
}

/// A player that a tracker watches, over a fake.
final class WatchedFake: Player {
    let name = "fake"
    let fake = FakePlayer()
    private let watch: PlayerWatch<AVPlayerModel>

    init() { watch = PlayerWatch(fake) { $0() } }

    var status: PlayerStatus { watch.read { $0.status(at: MonotonicInstant(nanoseconds: 0)) } }
    var declaredFields: PrivacyCatalogue { .avPlayer }
    func report(to observer: (@Sendable (PlayerSignal) -> Void)?) { watch.report(to: observer) }
}

@Suite("AVPlayer's tracker in the chain")
struct TrackerTests {
    @Test("A tracker over a watch keeps the promises of every tracker")
    func contract() async throws {
        let players = Lock<[WatchedFake]>([])
        try await TrackerContract.check {
            let player = WatchedFake()
            players.withLock { $0 = [player] }
            return PlayerTracker(player)
        } exercise: { _ in
            for player in players.withLock({ $0 }) {
                let fake = player.fake
                for observation: AVPlayerObservation in [
                    .item(ItemFacts(id: first)), .time(0), .rate(1), .timeControl(.playing),
                ] {
                    fake.show(observation)
                }
                fake.run(1)
                fake.show(.errorLog(first, [PlayerFailure(domain: "D", code: 1)]))
                fake.show(.item(nil))
            }
        }
    }

    @Test("A stall of AVPlayer becomes the metrics of a stall")
    func metrics() async {
        let (backend, player) = (CollectingBackend(), WatchedFake())
        let instrument = Instrument(
            hub: CoreHub(),
            metricalc: CoreMetricalc(),
            backends: [backend],
            clock: VirtualClock()
        )
        let id = instrument.add(PlayerTracker(player))
        instrument.ready()
        instrument.emit(.mediaRequest, from: id)
        var stage = ModelStage()
        for step in Step.begin() + [
            .see(.timeControl(.waiting(.toMinimizeStalls))), .wait(2), .see(.timeControl(.playing)), .run(3),
            .see(.playedToEnd(first)),
        ] {
            stage.play(step)
            player.fake.state.withLock { $0.now = stage.now }
            if case .see(let observation) = step { player.fake.show(observation) }
            if case .run(let seconds, _) = step {
                player.fake.state.withLock { $0.now = stage.now.advanced(by: .seconds(-seconds)) }
                player.fake.run(seconds, from: stage.position - seconds)
            }
        }
        await instrument.queue.flush(timeout: .seconds(1800))
        let metrics = backend.samples.compactMap {
            if case .metric(let metric) = $0 { "\(metric.name)=\(metric.value)" } else { nil }
        }
        #expect(
            metrics.filter { $0.hasPrefix("StartTime") || $0.contains("Rebuffer") } == [
                "StartTime=500", "RebufferTime=2000", "NumRebuffers=1",
            ]
        )
    }
}
