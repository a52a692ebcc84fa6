import Instrument
import InstrumentTestKit

@testable import InstrumentGStreamer

/// A pipeline whose reports a test makes.
final class ScriptedElement: GStreamerElement {
    struct Use {
        var inbox: GStreamerInbox?
        var observedCount = 0
        var endedCount = 0
        var state = GStreamerEvent.State.null
        var isObservable = true
        /// What happens while an observation begins.
        var meanwhile: [GStreamerEvent.Kind] = []
        var stateAfterwards: GStreamerEvent.State?
        var source: String? = "https://anna:secret@example.com/film.m3u8?token=secret"
    }

    let use = Lock(Use())

    func observe(_ inbox: GStreamerInbox) -> Bool {
        let meanwhile = use.withLock { use -> [GStreamerEvent.Kind]? in
            guard use.isObservable else { return nil }
            use.inbox = inbox
            use.observedCount += 1
            use.state = use.stateAfterwards ?? use.state
            return use.meanwhile
        }
        meanwhile?.forEach(inbox.take)
        return meanwhile != nil
    }

    func endObserving() { use.withLock { $0.endedCount += 1 } }
    func state() -> GStreamerEvent.State { use.withLock { $0.state } }
    func source() -> String? { use.withLock { $0.source } }

    /// Reports to the latest inbox, also after its end, as GStreamer may.
    func call(_ kind: GStreamerEvent.Kind) {
        let inbox = use.withLock { use in
            if case .state(_, let new, _) = kind { use.state = new }
            return use.inbox
        }
        inbox?.take(kind)
    }
}

/// A watch of a scripted pipeline on a virtual clock, with its signals and diagnostics.
final class Stage: Sendable {
    let element = ScriptedElement()
    let clock = VirtualClock()
    let begin: MonotonicInstant
    let signals = Lock<[PlayerSignal]>([])
    let diagnostics = Lock<[GStreamerDiagnostic]>([])
    let watch: GStreamerWatch

    init(isListening: Bool = true) {
        let diagnostics = diagnostics
        begin = clock.now
        watch = GStreamerWatch(element, clock: clock) { diagnostic in diagnostics.withLock { $0.append(diagnostic) } }
        if isListening { listen() }
    }

    func listen() {
        watch.listen { [signals] signal in signals.withLock { $0.append(signal) } }
        watch.settle()
    }

    var actions: [Action] { signals.withLock { $0.map(\.action) } }
    /// The instants of the signals in milliseconds.
    var instants: [Int] {
        signals.withLock {
            $0.map { $0.instant.map { Int((begin.duration(to: $0) / .milliseconds(1)).rounded()) } ?? -1 }
        }
    }
    var last: PlayerSignal? { signals.withLock { $0.last } }
    var kinds: [GStreamerDiagnostic.Kind] { diagnostics.withLock { $0.map(\.kind) } }

    /// Lets time pass up to an instant, with all looks that fall due.
    func pass(to milliseconds: Int) {
        let target = begin.advanced(by: .milliseconds(milliseconds))
        while clock.now < target {
            clock.advance(by: min(.milliseconds(10), clock.now.duration(to: target)))
            watch.settle()
            watch.settle()
        }
    }

    func call(_ kind: GStreamerEvent.Kind, at milliseconds: Int) {
        pass(to: milliseconds)
        element.call(kind)
        watch.settle()
        watch.settle()
    }

    /// `STATE_CHANGED` whose change has ended.
    func state(
        _ old: GStreamerEvent.State,
        _ new: GStreamerEvent.State,
        pending: GStreamerEvent.State = .none,
        at milliseconds: Int
    ) {
        call(.state(from: old, to: new, pending: pending), at: milliseconds)
    }

    /// A picture at a position in milliseconds that is shown `ahead` milliseconds later.
    func picture(_ position: Int, ahead: Int = 39, isPreroll: Bool = false, isDropped: Bool = false, at instant: Int) {
        var buffer = GStreamerBuffer(sink: 1, media: .video, position: Int64(position) * 1_000_000)
        (buffer.duration, buffer.ahead) = (40_000_000, isPreroll ? 0 : Int64(ahead) * 1_000_000)
        (buffer.isPreroll, buffer.isDropped) = (isPreroll, isDropped)
        call(.buffer(buffer), at: instant)
    }

    /// Pictures from a position and an instant on, each when the one before is shown.
    func pictures(from position: Int, count: Int, at instant: Int) {
        for number in 0..<count { picture(position + 40 * number, at: instant + 40 * number) }
    }

    /// A start whose pictures move since 1,000 ms, until 2,000 ms: the next picture is at position 1,040.
    func play(duration: Int? = 24_000) {
        state(.null, .ready, pending: .playing, at: 100)
        call(.thread, at: 110)
        call(.streamStart(group: 1), at: 900)
        call(.caps(sink: 1, media: .video, .init(width: 640, height: 360, framesPerSecond: 25)), at: 900)
        call(.segment(sink: 1, rate: 1, duration: duration.map { Int64($0) * 1_000_000 }), at: 900)
        picture(0, isPreroll: true, at: 950)
        state(.ready, .paused, pending: .playing, at: 960)
        call(.asyncDone, at: 960)
        state(.paused, .playing, at: 1_000)
        pictures(from: 40, count: 25, at: 1_001)
    }
}
