import Dispatch
import Instrument
import InstrumentTestKit
import Synchronization
import TestTraits
import Testing

@testable import InstrumentVLC

@Suite("The watch of libVLC", .serialized, .ownThread, .timeLimit(.minutes(30)))
struct WatchTests {
    /// A watch of a scripted library, and its signals and diagnostics.
    private final class Stage: Sendable {
        let library = ScriptedLibrary()
        let clock = VirtualClock()
        let signals = Lock<[PlayerSignal]>([])
        let diagnostics = Lock<[VLCDiagnostic]>([])
        let watch: VLCWatch

        init() {
            let diagnostics = diagnostics
            watch = VLCWatch(library, clock: clock) { diagnostic in diagnostics.withLock { $0.append(diagnostic) } }
        }

        func listen() {
            let signals = signals
            watch.listen { signal in signals.withLock { $0.append(signal) } }
            watch.settle()
        }

        var actions: [Action] { signals.withLock { $0.map(\.action) } }
        var kinds: [VLCDiagnostic.Kind] { diagnostics.withLock { $0.map(\.kind) } }

        /// Makes a call, and the calls of the time that passes after it.
        func call(_ kind: VLCEvent.Kind, thread: UInt = 1, after milliseconds: Int64 = 0) {
            clock.advance(by: .milliseconds(milliseconds))
            watch.settle()
            library.call(kind, thread: thread)
            watch.settle()
        }

        /// `TimeChanged` with a number of further pictures, and the reading of the counters.
        func progress(_ time: Int64, shown: Int, after milliseconds: Int64) {
            library.use.withLock { $0.counters.displayed += shown }
            call(.time(milliseconds: time), after: milliseconds - 10)
            clock.advance(by: .milliseconds(10))
            watch.settle()
        }

        func play() {
            call(.opening)
            call(.length(milliseconds: 24_000))
            call(.buffering(percent: 0), after: 10)
            call(.pictureOutputs(1), thread: 2, after: 50)
            call(.buffering(percent: 100), after: 50)
            progress(0, shown: 6, after: 250)
            progress(250, shown: 7, after: 280)
        }
    }

    @Test("Events and counters become signals, and the status is that of the player")
    func signals() {
        let stage = Stage()
        stage.listen()
        stage.play()
        #expect(stage.actions == [.streamLoad, .start])
        #expect(stage.watch.status.source == "/film.ts" && stage.watch.status.duration == .seconds(24))
        stage.call(.paused, after: 100)
        stage.call(.playing, after: 500)
        stage.call(.endReached, after: 200)
        #expect(stage.actions.prefix(4) == [.streamLoad, .start, .pauseBegin, .pauseFinish])
    }

    @Test("A time on another thread than the input's is a seek that the app asked for")
    func seekByThread() {
        let stage = Stage()
        stage.listen()
        stage.play()
        stage.call(.time(milliseconds: 12_000), thread: 77, after: 100)
        stage.call(.buffering(percent: 0), after: 2)
        stage.call(.buffering(percent: 100), after: 20)
        stage.progress(12_000, shown: 7, after: 280)
        stage.progress(12_000, shown: 7, after: 280)
        #expect(stage.actions == [.streamLoad, .start, .seekBegin, .seekFinish])
    }

    @Test("An input that falls silent stalls without a further event")
    func silence() {
        let stage = Stage()
        stage.listen()
        stage.play()
        stage.library.use.withLock { $0.isPaused = false }
        for _ in 0..<4 {
            stage.clock.advance(by: .milliseconds(500))
            stage.watch.settle()
            stage.watch.settle()
        }
        #expect(stage.actions == [.streamLoad, .start, .bufferBegin])
    }

    @Test("A player that is being stopped is silent and does not stall")
    func silentStop() {
        let stage = Stage()
        stage.listen()
        stage.play()
        for _ in 0..<4 {
            stage.clock.advance(by: .milliseconds(500))
            stage.watch.settle()
            stage.watch.settle()
        }
        stage.call(.stopped)
        #expect(stage.actions == [.streamLoad, .start, .stop])
    }

    @Test("A playback that runs already is joined, with a notice")
    func joined() {
        let stage = Stage()
        stage.library.use.withLock { $0.isPaused = false }
        stage.listen()
        #expect(stage.actions == [.streamLoad] && stage.kinds == [.joinedLate])
    }

    @Test("The handle is given back once, although several threads close, and nothing is called afterwards")
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
                            case 2: for _ in 0..<20 { stage.library.call(.opening, thread: UInt(number)) }
                            default: stage.watch.close()
                            }
                        }
                    }
                }
            }
            stage.watch.close()
            stage.watch.settle()
            stage.watch.listen { _ in }
            stage.library.call(.opening)
            stage.watch.settle()
            let use = stage.library.use.withLock { $0 }
            #expect(use.releaseCount == 1 && use.lateCount == 0)
            #expect(use.observedCount == use.endedCount && use.tokens.isEmpty)
        }
    }

    @Test("A watch that is closed with calls under way gives the handle back, although nobody keeps it")
    func dropped() async throws {
        let library = ScriptedLibrary()
        do {
            let watch = VLCWatch(library, clock: SystemClock()) { _ in }
            watch.listen { _ in }
            watch.settle()
            for _ in 0..<100 { library.call(.time(milliseconds: 5)) }
            watch.close()
        }
        let clock = ContinuousClock()
        while library.use.withLock({ $0.releaseCount }) == 0 { try await clock.sleep(for: .milliseconds(1)) }
        #expect(library.use.withLock { $0.releaseCount } == 1)
        #expect(library.use.withLock { $0.tokens.isEmpty })
    }

    @Test("A listener may end the watch in a signal")
    func closedByListener() {
        let stage = Stage()
        let count = Atomic(0)
        stage.watch.listen { [watch = stage.watch] _ in
            count.add(1, ordering: .relaxed)
            watch.close()
        }
        stage.watch.settle()
        stage.call(.opening)
        stage.call(.stopped)
        stage.watch.settle()
        #expect(count.load(ordering: .relaxed) == 1)
        #expect(stage.library.use.withLock { $0.releaseCount } == 1)
    }

    @Test("A call after the end of the watch is reported once and changes nothing")
    func lateCall() {
        let stage = Stage()
        stage.listen()
        stage.play()
        stage.watch.close()
        stage.watch.settle()
        let actions = stage.actions
        for thread in 0..<8 as Range<UInt> {
            for kind in [VLCEvent.Kind.opening, .buffering(percent: 0), .endReached, .message("late")] {
                stage.library.call(kind, thread: thread)
            }
        }
        stage.watch.settle()
        #expect(stage.actions == actions && stage.kinds == [.lateCall])
        // A token that never was.
        VLCCallback.take(.opening, token: .max, thread: 1)
        VLCCallback.take(.opening, token: 0, thread: 1)
    }

    @Test("Values that are not possible are ignored, with a bounded number of notices")
    func impossibleValues() {
        let stage = Stage()
        stage.listen()
        stage.play()
        let before = (stage.actions, stage.watch.status)
        for _ in 0..<10 {
            for kind in [
                VLCEvent.Kind.time(milliseconds: -5), .time(milliseconds: .max), .position(.nan), .position(7),
                .buffering(percent: 250), .buffering(percent: .nan), .buffering(percent: -1),
                .length(milliseconds: .min), .pictureOutputs(-3), .volume(.infinity),
            ] {
                stage.call(kind)
            }
        }
        #expect(stage.actions == before.0 && stage.watch.status == before.1)
        #expect(stage.kinds == [VLCDiagnostic.Kind](repeating: .impossibleValue, count: 16))
        #expect(stage.diagnostics.withLock { $0.contains { $0.description.contains("buffering of 250.0 %") } })
    }

    @Test("A flood of events from several threads blocks no thread, and its memory is bounded")
    func flood() async {
        let stage = Stage()
        stage.listen()
        // The queue is busy: everything waits in the inbox.
        let (busy, free) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        stage.watch.listen { _ in
            busy.signal()
            free.wait()
        }
        stage.watch.settle()
        stage.library.call(.opening)
        busy.wait()
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<8 as Range<UInt> {
                group.addTask {
                    for number in 0..<5_000 {
                        stage.library.call(.volume(Double(number)), thread: thread)
                        stage.library.call(.time(milliseconds: Int64(number)), thread: thread)
                    }
                }
            }
        }
        free.signal()
        stage.watch.settle()
        stage.watch.settle()
        #expect(stage.kinds.filter { $0 == .overflow }.count == 1)
    }
}
