import Instrument
import Testing

/// A player that reports the given signals.
private final class ScriptedPlayer: Player {
    let name = "scripted"
    private let state = Lock((status: PlayerStatus(), observer: nil as (@Sendable (PlayerSignal) -> Void)?))

    private let reads = Lock(0)
    /// The number of times that the status was read.
    var readCount: Int { reads.withLock { $0 } }

    var status: PlayerStatus {
        reads.withLock { $0 += 1 }
        return state.withLock { $0.status }
    }
    var isObserved: Bool { state.withLock { $0.observer != nil } }
    func report(to observer: (@Sendable (PlayerSignal) -> Void)?) { state.withLock { $0.observer = observer } }
    func set(_ change: @Sendable (inout PlayerStatus) -> Void) { state.withLock { change(&$0.status) } }
    func signal(_ signal: PlayerSignal) { state.withLock { $0.observer }?(signal) }
}

/// Watches a player under another title.
private final class RetitlingTracker: Tracker {
    private let tracker: PlayerTracker

    init(_ player: some Player) { tracker = PlayerTracker(player) }

    func begin(in context: TrackerContext) {
        tracker.begin(in: context)
        context.register(.title) { "another title" }
    }

    func end() { tracker.end() }
}

private final class Recorder: Backend {
    let name: BackendName = "recorder"
    private let kept = Lock([Event]())
    var events: [Event] { kept.withLock { $0 } }
    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        let events = batch.records.compactMap { if case .event(let event) = $0.sample { event } else { nil } }
        kept.withLock { $0 += events }
        return .acknowledged
    }
}

@Suite("Player tracker")
struct PlayerTrackerTests {
    private let clock = VirtualClock()
    private let player = ScriptedPlayer()
    private let recorder = Recorder()

    private func makeInstrument() -> Instrument {
        Instrument(hub: CoreHub(), metricalc: nil, backends: [recorder], clock: clock, deliveryClock: SystemClock())
    }

    private func at(_ milliseconds: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
    }

    @Test("The tracker reports the player, and its readiness with the instrument's")
    func beginning() async {
        let instrument = makeInstrument()
        instrument.add(PlayerTracker(player))
        #expect(player.isObserved)
        clock.advance(by: .seconds(1))
        instrument.ready()
        await instrument.shutdown(timeout: .seconds(1800))
        #expect(recorder.events.map(\.action) == [.trackerInit, .playerSet, .playerReady])
        #expect(recorder.events.map { $0.time.instant.milliseconds } == [0, 0, 1000])
        #expect(recorder.events.allSatisfy { $0[.trackerTarget] == "scripted" })
    }

    @Test("A signal carries its instant and status, or those of now")
    func signals() async {
        let instrument = makeInstrument()
        instrument.add(PlayerTracker(player))
        player.set { status in
            (status.position, status.bitrate, status.title) = (.seconds(9), 5000, "now")
            (status.volume, status.isMuted, status.subtitles) = (70, false, "de")
        }
        clock.advance(by: .seconds(10))
        var then = PlayerStatus()
        (then.position, then.bitrate) = (.seconds(2), 4000)
        player.signal(PlayerSignal(.bufferBegin, at: at(3000), status: then))
        player.signal(PlayerSignal(.bufferFinish))
        player.signal(PlayerSignal(.error, attributes: ["errorDescription": "broken"]))
        await instrument.shutdown(timeout: .seconds(1800))
        let events = recorder.events.suffix(3)
        #expect(events.map { $0.time.instant.milliseconds } == [3000, 10_000, 10_000])
        #expect(events.map { $0[.position] } == [.seconds(2), .seconds(9), .seconds(9)])
        #expect(events.map { $0[.bitrate] } == [4000, 5000, 5000])
        #expect(events.last?[.errorDescription] == "broken")
        #expect(events.allSatisfy { $0[.volume] == 70 && $0[.isMuted] == false && $0[.subtitles] == "de" })
        #expect(events.allSatisfy { $0[.duration] == nil && $0[.resolutionWidth] == nil })
    }

    @Test("Events without a signal, such as pings, carry the player's present status")
    func pings() async {
        let instrument = makeInstrument()
        instrument.add(PlayerTracker(player))
        player.signal(PlayerSignal(.start))
        player.set { $0.position = .seconds(30) }
        clock.advance(by: .seconds(31))
        await instrument.shutdown(timeout: .seconds(1800))
        #expect(recorder.events.last?.action == .ping)
        #expect(recorder.events.last?[.position] == .seconds(30))
    }

    @Test("The tracker reads the status once for an event that reports none, and once for a single field")
    func readsOnce() async {
        let instrument = makeInstrument()
        let tracker = instrument.add(PlayerTracker(player))
        player.set { ($0.position, $0.title, $0.volume) = (.seconds(5), "film", 30) }
        let before = player.readCount
        player.signal(PlayerSignal(.start))
        #expect(player.readCount == before + 1)
        #expect(instrument.value(of: .title, from: tracker) == "film")
        #expect(player.readCount == before + 2)
        await instrument.shutdown(timeout: .seconds(1800))
        #expect(recorder.events.last?[.title] == "film")
        #expect(recorder.events.last?[.volume] == 30)
    }

    @Test("A getter of one field replaces the player's value of that field alone")
    func replacedGetter() async {
        let instrument = makeInstrument()
        let tracker = instrument.add(RetitlingTracker(player))
        player.set { ($0.position, $0.title) = (.seconds(5), "film") }
        player.signal(PlayerSignal(.start))
        #expect(instrument.value(of: .title, from: tracker) == "another title")
        await instrument.shutdown(timeout: .seconds(1800))
        #expect(recorder.events.last?[.title] == "another title")
        #expect(recorder.events.last?[.position] == .seconds(5))
    }

    @Test("A removed tracker stops observing the player")
    func removal() async {
        let instrument = makeInstrument()
        let tracker = instrument.add(PlayerTracker(player))
        instrument.remove(tracker)
        #expect(!player.isObserved)
        player.signal(PlayerSignal(.start))
        await instrument.shutdown(timeout: .seconds(1800))
        #expect(recorder.events.map(\.action) == [.trackerInit, .playerSet])
    }
}
