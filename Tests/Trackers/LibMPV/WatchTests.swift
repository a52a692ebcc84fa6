import Instrument
import InstrumentJSON
import InstrumentTestKit
import Synchronization
import TestTraits
import Testing

@testable import InstrumentLibMPV
@testable import InstrumentMPV

/// A client whose events a test makes.
private final class ScriptedClient: LibMPVClient {
    struct Use {
        var events: [LibMPVEvent] = []
        var wake: (@Sendable () -> Void)?
        var asked: [MPVRequests.Request] = []
        var isObserving = false
        var destroyedCount = 0
        var lateCount = 0
        var isThere = true
        var values: [MPVProperty: JSONValue] = [.idleActive: true, .coreIdle: true, .isPaused: false]
        var isAnswering = true
    }

    let use = Lock(Use())

    private func note<Result: Sendable>(_ body: (inout Use) -> Result) -> Result {
        use.withLock { use in
            if use.destroyedCount > 0 { use.lateCount += 1 }
            return body(&use)
        }
    }

    func wake(_ body: @escaping @Sendable () -> Void) -> Bool {
        note { use in
            use.wake = body
            return use.isThere
        }
    }

    func observe(_ properties: [MPVProperty]) { note { $0.isObserving = true } }
    func endObserving() { note { $0.isObserving = false } }

    func ask(_ request: MPVRequests.Request) {
        note { use in
            use.asked.append(request)
            if use.isAnswering { use.events.append(.reply(request.number, use.values[request.property])) }
        }
    }

    func nextEvent() -> LibMPVEvent? { note { $0.events.isEmpty ? nil : $0.events.removeFirst() } }
    func destroy() { use.withLock { $0.destroyedCount += 1 } }

    /// libmpv has an event, and wakes.
    func send(_ events: LibMPVEvent...) {
        let wake = use.withLock { use in
            use.events += events
            return use.wake
        }
        wake?()
    }
}

@Suite("The watch of libmpv", .serialized, .ownThread, .timeLimit(.minutes(30)))
struct WatchTests {
    private final class Stage: Sendable {
        let client = ScriptedClient()
        let signals = Lock<[PlayerSignal]>([])
        let diagnostics = Lock<[MPVDiagnostic]>([])
        let watch: LibMPVWatch

        init(isThere: Bool = true) {
            client.use.withLock { $0.isThere = isThere }
            watch = LibMPVWatch(client, clock: VirtualClock()) { [diagnostics] diagnostic in
                diagnostics.withLock { $0.append(diagnostic) }
            }
        }

        func listen() {
            watch.listen { [signals] signal in signals.withLock { $0.append(signal) } }
            settle()
        }

        func send(_ event: MPVEvent) {
            client.send(.event(event))
            settle()
        }

        func settle() { for _ in 0..<3 { watch.settle() } }

        /// The begin of a file as mpv reports it.
        func play() {
            client.use.withLock { use in
                (use.values[.path], use.values[.idleActive]) = ("/film.mkv", false)
            }
            for event in [MPVEvent.startFile, .fileLoaded, .playbackRestart] { send(event) }
            send(.property(.coreIdle, false))
        }

        var actions: [Action] { signals.withLock { $0.map(\.action) } }
        var kinds: [MPVDiagnostic.Kind] { diagnostics.withLock { $0.map(\.kind) } }
    }

    @Test("Events and answers become the signals that the model makes of them")
    func signals() {
        let stage = Stage()
        stage.listen()
        stage.play()
        stage.send(.property(.isPausedForCache, true))
        stage.send(.property(.isPausedForCache, false))
        stage.send(.endFile(.endOfFile))
        stage.send(.property(.idleActive, true))
        #expect(stage.actions == [.streamLoad, .start, .bufferBegin, .bufferFinish, .end])
        #expect(stage.signals.withLock { $0.first?.status?.source } == "/film.mkv")
        #expect(stage.kinds == [.connected])
    }

    @Test("A playback that runs already is joined, with a notice")
    func joined() {
        let stage = Stage()
        stage.client.use.withLock { use in
            (use.values[.path], use.values[.idleActive], use.values[.coreIdle]) = ("/film.mkv", false, false)
        }
        stage.listen()
        #expect(stage.actions == [.streamLoad, .start] && stage.kinds.contains(.joinedLate))
    }

    @Test("A shutdown ends the playback, and the client at once, also while nobody listens")
    func shutdown() {
        let stage = Stage()
        stage.listen()
        stage.play()
        stage.send(.shutdown)
        #expect(stage.actions == [.streamLoad, .start, .stop])
        #expect(stage.client.use.withLock { ($0.destroyedCount == 1, $0.lateCount == 0) } == (true, true))
        let silent = Stage()
        silent.settle()
        silent.send(.shutdown)
        silent.watch.close()
        silent.settle()
        #expect(silent.client.use.withLock { $0.destroyedCount } == 1 && silent.actions.isEmpty)
    }

    @Test("A listening after another begins without what was observed before")
    func again() {
        let stage = Stage()
        stage.listen()
        stage.play()
        stage.watch.listen(nil)
        stage.settle()
        stage.send(.endFile(.stop))
        #expect(stage.actions == [.streamLoad, .start])
        stage.client.use.withLock { $0.values[.idleActive] = true }
        stage.listen()
        stage.play()
        #expect(stage.actions == [.streamLoad, .start, .streamLoad, .start])
    }

    @Test("A player without a client is reported, and an overflow once")
    func reports() {
        let none = Stage(isThere: false)
        none.listen()
        #expect(none.kinds == [.notThere] && none.actions.isEmpty)
        let full = Stage()
        full.listen()
        for _ in 0..<5 { full.client.send(.overflow) }
        full.settle()
        #expect(full.kinds == [.connected, .overflow])
    }

    @Test("The client is destroyed once, although several threads close, and nothing is called afterwards")
    func closedOnce() async {
        for _ in 0..<Rounds.of(100) {
            let stage = Stage()
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        for _ in 0..<5 {
                            switch number % 4 {
                            case 0: stage.watch.listen { _ in }
                            case 1: stage.watch.listen(nil)
                            case 2: stage.client.send(.event(.startFile), .reply(-1, nil), .event(.seek))
                            default: stage.watch.close()
                            }
                        }
                    }
                }
            }
            stage.watch.close()
            stage.watch.listen { _ in }
            stage.client.send(.event(.startFile))
            stage.settle()
            #expect(stage.client.use.withLock { ($0.destroyedCount, $0.lateCount) } == (1, 0))
        }
    }

    @Test("A listener may end the watch in a signal")
    func closedByListener() {
        let stage = Stage()
        let count = Atomic(0)
        stage.watch.listen { [watch = stage.watch] _ in
            count.add(1, ordering: .relaxed)
            watch.close()
        }
        stage.settle()
        stage.play()
        #expect(count.load(ordering: .relaxed) == 1)
        #expect(stage.client.use.withLock { $0.destroyedCount } == 1)
    }
}
