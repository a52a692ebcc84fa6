import Dispatch
import Instrument
import InstrumentTestKit
import Synchronization
import TestTraits
import Testing

@testable import InstrumentGStreamer

@Suite("The watch of GStreamer", .serialized, .ownThread, .timeLimit(.minutes(30)))
struct WatchTests {
    @Test("A playback that runs already is joined, with a notice; one that begins is not")
    func joined() {
        let stage = Stage(isListening: false)
        stage.element.use.withLock { ($0.state, $0.meanwhile) = (.playing, [.thread]) }
        stage.listen()
        stage.pictures(from: 20_000, count: 3, at: 100)
        #expect(stage.actions == [.streamLoad, .start] && stage.kinds == [.joinedLate])
        #expect(stage.signals.withLock { $0.map { $0.attributes[.joinedLate] } } == [true, true])
        #expect(stage.last?.status?.source == "https://example.com/film.m3u8")
        let paused = Stage(isListening: false)
        paused.element.use.withLock { $0.state = .paused }
        paused.listen()
        paused.state(.paused, .playing, at: 500)
        paused.pictures(from: 20_000, count: 3, at: 500)
        #expect(paused.actions == [.streamLoad, .start])
        let stopped = Stage(isListening: false)
        stopped.element.use.withLock { ($0.state, $0.stateAfterwards) = (.playing, .null) }
        stopped.listen()
        #expect(stopped.actions == [.streamLoad, .stop])
    }

    @Test("An element that cannot be observed is reported, and nothing else happens")
    func notObservable() {
        let element = ScriptedElement()
        element.use.withLock { $0.isObservable = false }
        let kinds = Lock<[GStreamerDiagnostic.Kind]>([])
        let ended = Lock<GStreamerWatch?>(nil)
        let watch = GStreamerWatch(element, clock: VirtualClock()) { diagnostic in
            kinds.withLock { $0.append(diagnostic.kind) }
            // Who takes the notice may end the watch.
            ended.withLock { $0 }?.close()
        }
        ended.withLock { $0 = watch }
        watch.listen { _ in }
        watch.settle()
        #expect(kinds.withLock { $0 } == [.cannotObserve])
        ended.withLock { $0 = nil }
    }

    @Test("A pipeline whose messages an app's sync handler drops is reported once, and nothing wrong is measured")
    func noMessages() {
        let stage = Stage()
        stage.call(.caps(sink: 1, media: .video, .init()), at: 10)
        stage.pictures(from: 0, count: 50, at: 20)
        #expect(stage.kinds == [.noMessages] && stage.actions.isEmpty)
    }

    @Test("A pipeline that is taken down behind a flushing bus, as a GstPlay, has stopped and does not stall")
    func flushingBus() {
        let stage = Stage()
        stage.play()
        stage.element.use.withLock { $0.state = .ready }
        stage.pass(to: 4_000)
        #expect(stage.actions == [.streamLoad, .start, .stop])
        #expect(stage.instants.last.map { $0 <= 2_500 } == true)
    }

    @Test("Observations begin and end in pairs, although several threads ask for them")
    func pairs() async {
        for _ in 0..<Rounds.of(100) {
            let stage = Stage(isListening: false)
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        for _ in 0..<5 {
                            switch number % 4 {
                            case 0: stage.watch.listen { _ in }
                            case 1: stage.watch.listen(nil)
                            case 2: for _ in 0..<20 { stage.element.call(.thread) }
                            default: _ = stage.watch.status
                            }
                        }
                    }
                }
            }
            stage.watch.close()
            stage.watch.listen { _ in }
            stage.element.call(.thread)
            stage.watch.settle()
            let use = stage.element.use.withLock { ($0.observedCount, $0.endedCount) }
            #expect(use.0 == use.1)
        }
    }

    @Test("A listener may end the watch in a signal, and late calls change nothing")
    func closedByListener() {
        let stage = Stage(isListening: false)
        let count = Atomic(0)
        stage.watch.listen { [watch = stage.watch] _ in
            count.add(1, ordering: .relaxed)
            watch.close()
        }
        stage.call(.thread, at: 10)
        for kind in [GStreamerEvent.Kind.thread, .end, .asyncDone] { stage.call(kind, at: 20) }
        #expect(count.load(ordering: .relaxed) == 1)
        #expect(stage.element.use.withLock { $0.endedCount } == 1)
    }

    @Test("Values that are not possible are ignored, with a bounded number of notices")
    func impossibleValues() {
        let stage = Stage()
        stage.play()
        let before = (stage.actions, stage.watch.status)
        var negative = GStreamerBuffer(sink: 1, media: .video, position: -5)
        for _ in 0..<10 {
            negative.ahead = .min
            for kind in [
                GStreamerEvent.Kind.buffering(percent: 250, isLive: false), .buffering(percent: -1, isLive: false),
                .seek(rate: .nan, isFlushing: true, position: nil), .seek(rate: 1, isFlushing: true, position: -7),
                .segment(sink: 1, rate: 0, duration: nil), .segment(sink: 1, rate: 1, duration: .max),
                .caps(sink: 1, media: .video, .init(width: -3, height: 5)), .buffer(negative),
                .sound(volume: .infinity, isMuted: false), .dropped(count: -1, element: 1),
            ] {
                stage.call(kind, at: 2_001)
            }
        }
        var after = stage.watch.status
        after.position = before.1.position
        #expect(stage.actions == before.0 && after == before.1)
        #expect(stage.kinds == [GStreamerDiagnostic.Kind](repeating: .impossibleValue, count: 16))
        #expect(stage.diagnostics.withLock { $0.contains { $0.description.contains("buffering of 250 %") } })
    }

    @Test("A flood of messages from several threads blocks no thread, and its memory is bounded")
    func flood() async {
        let stage = Stage(isListening: false)
        // The queue is busy: everything waits in the inbox.
        let (busy, free) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        stage.watch.listen { _ in
            busy.signal()
            free.wait()
        }
        stage.element.call(.thread)
        busy.wait()
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<8 {
                group.addTask {
                    for number in 0..<5_000 {
                        stage.element.call(.tags(media: .video, bitrate: number, language: nil, title: nil))
                        stage.element.call(.streamStart(group: thread))
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
